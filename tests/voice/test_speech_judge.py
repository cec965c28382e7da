"""The judge of the head's speech: its recogniser program, on sound of the shipped head."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soxr
from pocketsphinx import Decoder

from appliance.pcm import RATE_HZ, Samples
from appliance.voice.head.codec import Codec
from appliance.voice.head.speech_head import SpeechHead
from appliance.voice.judged_part import spoken_words_of
from appliance.voice.speech_aligner import NO_FIT, SpeechAligner
from appliance.voice.speech_judge import LEAST_FIT, SpeechJudge
from tests.voice.head.spoken import SHIPPED, recite

pytestmark = pytest.mark.process

TEXT = "Spiders have eight legs."  # a part of an answer that the head was not trained on
OTHER = ["rome", "is", "the", "capital"]
START_S = 60.0  # on a busy machine


class HeadSound:
    def __init__(self) -> None:
        head = SpeechHead(SHIPPED)
        stream, states = head.begin(), recite(TEXT).states
        stream.push(states[:, 1:], states[:, 0])
        stream.end()
        frames = stream.frames()
        self.sound = resampled(np.concatenate([f.samples for f in frames]), head.rate_hz)
        codes = np.stack([f.codes for f in frames])
        codec = Codec(SHIPPED / "codec.json")
        codes[:, 0] = np.random.default_rng(0).permutation(2048)[codes[:, 0]]
        samples, _ = codec.decode(codes, codec.start())
        self.broken = resampled(32767 * samples.clip(-1, 1), codec.rate_hz)


def resampled(samples: np.ndarray, rate_hz: int) -> Samples:
    found: Samples = soxr.resample(samples.astype(np.float32), rate_hz, RATE_HZ).astype(np.int16)
    return found


@pytest.fixture(scope="module")
def head_sound() -> HeadSound:
    return HeadSound()


@pytest.fixture(scope="module")
def aligner() -> SpeechAligner:
    return SpeechAligner()


@pytest.fixture(scope="module")
def words() -> list[str]:
    found = spoken_words_of(TEXT)
    assert found is not None
    return found


def until(judge: SpeechJudge, true: Callable[[], object]) -> None:
    limit = time.monotonic() + START_S
    while not true():
        assert time.monotonic() < limit
        judge.poll()
        time.sleep(0.005)


@pytest.fixture(scope="module")
def judge() -> Iterator[SpeechJudge]:
    made = SpeechJudge(now_s=lambda: 0.0)  # no verdict is late here
    until(made, lambda: made.ready)
    yield made
    made.close()


def verdict(judge: SpeechJudge, words: list[str], sound: Samples) -> bool:
    found: list[bool] = []
    judge.judge(words, sound, found.append)
    assert judge.ready == bool(found)  # a text with an unknown word may be judged at once
    until(judge, lambda: found)
    return found[0]


def test_the_heads_speech_fits_its_text_and_no_other_text(
    judge: SpeechJudge, head_sound: HeadSound, words: list[str]
) -> None:
    assert verdict(judge, words, head_sound.sound)
    assert not verdict(judge, OTHER, head_sound.sound)
    assert verdict(judge, words, head_sound.sound)  # the previous judgement has no effect


def test_the_sound_of_a_broken_head_is_rejected(
    judge: SpeechJudge, head_sound: HeadSound, words: list[str]
) -> None:
    assert not verdict(judge, words, head_sound.broken)


def test_silence_and_noise_are_rejected(judge: SpeechJudge, words: list[str]) -> None:
    noise = np.random.default_rng(0).normal(0, 3000, 2 * RATE_HZ).astype(np.int16)
    assert not verdict(judge, words, np.zeros(2 * RATE_HZ, np.int16))
    assert not verdict(judge, words, noise)


def test_a_text_with_an_unknown_word_is_accepted(judge: SpeechJudge, head_sound: HeadSound) -> None:
    assert verdict(judge, ["spiders", "have", "qwzzx"], head_sound.sound)


class TruncatedDecoder:
    """pocketsphinx's decoder, whose alignments lack the last words."""

    def __init__(self, decoder: Decoder, missing: int) -> None:
        self._decoder, self._missing = decoder, missing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decoder, name)

    def seg(self) -> list[Any]:
        found = [part for part in self._decoder.seg() if part.word[0] not in "<["]
        return found[: len(found) - self._missing]


@pytest.mark.parametrize(("missing", "fits"), [(0, True), (1, True), (2, False), (4, False)])
def test_an_alignment_may_lack_the_last_word_only(
    aligner: SpeechAligner, head_sound: HeadSound, words: list[str], missing: int, fits: bool
) -> None:
    aligner = SpeechAligner(TruncatedDecoder(aligner._decoder, missing))
    assert (aligner.fit(words, head_sound.sound) > LEAST_FIT + 1) == fits


def test_the_threshold_separates_right_from_wrong(
    aligner: SpeechAligner, head_sound: HeadSound, words: list[str]
) -> None:
    assert aligner.fit(words, head_sound.sound) > LEAST_FIT + 1
    assert aligner.fit(OTHER, head_sound.sound) < LEAST_FIT - 1
    assert NO_FIT <= aligner.fit(words, head_sound.broken) < LEAST_FIT - 1


def test_without_its_program_the_judge_accepts_everything(
    head_sound: HeadSound, words: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    judge, found = SpeechJudge(), list[bool]()
    until(judge, lambda: judge.ready)
    judge.judge(words, head_sound.sound, found.append)
    assert judge.pid is not None
    os.kill(judge.pid, signal.SIGKILL)
    with caplog.at_level(logging.WARNING, "speaker"):
        until(judge, lambda: found)
        until(judge, lambda: judge.pid is None)
    assert not judge.ready
    assert "is not checked any more" in caplog.text
    judge.poll()
    judge.close()


def test_a_hanging_judge_is_ended_and_accepts(
    head_sound: HeadSound, words: list[str], tmp_path: Path
) -> None:
    program = tmp_path / "hangs.py"
    program.write_text("import os, time\nos.write(1, b'{\"ready\": 1}\\n')\ntime.sleep(600)\n")
    now_s = [0.0]
    judge, found = SpeechJudge(program, lambda: now_s[0]), list[bool]()
    until(judge, lambda: judge.ready)
    judge.judge(words, head_sound.sound, found.append)
    judge.poll()
    assert found == []
    now_s[0] = 11.0
    judge.poll()
    assert found == [True]
    assert judge.pid is None


def test_a_judge_that_violates_the_protocol_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "nonsense.py"
    program.write_text("import os, sys\nos.write(1, b'hello\\n')\nsys.stdin.read()\n")
    judge = SpeechJudge(program)
    until(judge, lambda: judge.pid is None)
    assert not judge.ready
