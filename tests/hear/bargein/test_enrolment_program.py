"""The enrolment program prints a line for each take and saves its result completely or not."""

from __future__ import annotations

import functools
import io
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from appliance.hear.bargein import adaptation, enrolment, enrolment_program, network
from appliance.hear.bargein.enrolment_lines import (
    AllTold,
    LearningBegins,
    LearningEnds,
    TakeComes,
    TakeScored,
)
from appliance.hear.bargein.enrolment_program import Learn
from appliance.hear.learning_program import PROGRAM
from appliance.messages.hearing import Judgement
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import HearingSettings, load_defaults
from lab.sim import speech_source

pytestmark = pytest.mark.process
# German words, which the shipped network misjudges, so that there is something to learn.
WORDS: tuple[tuple[str, Judgement], ...] = (
    ("klar", "backchannel"), ("verstehe", "backchannel"), ("gut", "backchannel"),
    ("warte", "interruption"), ("stopp", "interruption"), ("nein", "interruption"),
)  # fmt: skip


# Each word goes through the pipeline once, and the same words are learnt once, although several
# runs of the program get them.
@functools.cache
def _scored(name: str, kind: Judgement, sound: bytes) -> enrolment.ScoredRecording:
    recording = enrolment.EnrolmentRecording(name, kind, np.frombuffer(sound, np.int16))
    return enrolment.score(recording, load_defaults().hearing, network.VerdictNetwork())


def score(
    take: enrolment.EnrolmentRecording, settings: HearingSettings, _: network.VerdictNetwork
) -> enrolment.ScoredRecording:
    assert settings == load_defaults().hearing
    return _scored(take.name, take.kind, take.samples.tobytes())


@pytest.fixture(scope="module")
def learn() -> Learn:
    learnt: dict[tuple[int, ...], enrolment.EnrolmentResult] = {}

    def known(
        scored: list[enrolment.ScoredRecording], others: adaptation.NetworkOutputs, model: str
    ) -> enrolment.EnrolmentResult:
        key = tuple(map(id, scored))  # `_scored` keeps them, so that no other gets the same
        if key not in learnt:
            learnt[key] = enrolment.learn(scored, others, model)
        return learnt[key]

    return known


def take(text: str, pace: int = 165) -> Samples:
    noise = np.random.default_rng(2).standard_normal(3 * RATE_HZ // 2) * 16
    if text:
        wave = speech_source.at_level(speech_source.spoken(text, "de", pace, 50), -24.0).samples
        noise[8000 : 8000 + len(wave)] += wave
    return noise.astype(np.int16)


def input_for(state: Path, said: tuple[tuple[str, Judgement], ...], *, ends: bool = False) -> bytes:
    begins = LearningBegins(load_defaults().hearing, str(state))
    lines = [msgspec.json.encode(begins) + b"\n"]
    for number, (text, kind) in enumerate(said, 1):
        samples = take(text, 165 + 5 * (number > len(WORDS)))
        lines.append(msgspec.json.encode(TakeComes(number, kind, len(samples))) + b"\n")
        lines.append(samples.tobytes())
    if ends:
        lines.append(msgspec.json.encode(AllTold()) + b"\n")
    return b"".join(lines)


def run(data: bytes, learn: Learn, *, wanted: bool = True) -> list[TakeScored | LearningEnds]:
    outcomes: list[TakeScored | LearningEnds] = []
    enrolment_program.run(
        io.BytesIO(data), outcomes.append, wanted=lambda: wanted, score=score, learn=learn
    )
    return outcomes


def test_a_helpful_result_is_saved_unless_it_is_no_longer_wanted(
    tmp_path: Path, learn: Learn
) -> None:
    data = input_for(tmp_path, 2 * WORDS, ends=True)
    *left, ends = run(data, learn, wanted=False)
    assert left == [TakeScored(number, None) for number in range(1, 13)]
    assert ends == LearningEnds("failed")
    assert list(tmp_path.iterdir()) == []
    ends = run(data, learn)[-1]
    assert isinstance(ends, LearningEnds)
    assert (ends.outcome, ends.after > ends.before) == ("kept", True)
    assert adaptation.load(tmp_path) is not None
    assert [file.name for file in tmp_path.rglob("*.*")] == ["verdict-owner.npz"]


def test_an_unusable_take_is_reported_and_too_few_takes_save_nothing(
    tmp_path: Path, learn: Learn
) -> None:
    outcomes = run(
        input_for(tmp_path, (("", "backchannel"), ("stopp", "interruption")), ends=True), learn
    )
    assert outcomes == [TakeScored(1, "silent"), TakeScored(2, None), LearningEnds("too-few")]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_fails_without_a_partial_file(
    tmp_path: Path, learn: Learn
) -> None:
    (tmp_path / "state").write_text("a file")
    assert run(input_for(tmp_path / "state", 2 * WORDS, ends=True), learn)[-1] == LearningEnds(
        "failed"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize("cut", ["after a take", "within a take"])
def test_the_program_ends_at_the_end_of_its_input_and_writes_nothing(
    tmp_path: Path, cut: str
) -> None:
    data = input_for(tmp_path, WORDS[:1])
    done = subprocess.run(
        [sys.executable, *PROGRAM[1:]],
        input=data if cut == "after a take" else data[:-1000],
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0
    lines = [msgspec.json.decode(line, type=TakeScored) for line in done.stdout.splitlines()]
    assert lines == ([TakeScored(1, None)] if cut == "after a take" else [])
    assert list(tmp_path.iterdir()) == []
