"""The recogniser that listens to the head: its program, with what the shipped head says."""

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
START_S = 60.0  # on a machine that has much else to do


class Said:
    def __init__(self) -> None:
        head = SpeechHead(SHIPPED)
        stream, states = head.begin(), recite(TEXT).states
        stream.push(states[:, 1:], states[:, 0])
        stream.end()
        frames = stream.frames()
        self.sound = slow(np.concatenate([f.samples for f in frames]), head.rate_hz)
        codes = np.stack([f.codes for f in frames])
        codec = Codec(SHIPPED / "codec.json")
        codes[:, 0] = np.random.default_rng(0).permutation(2048)[codes[:, 0]]
        samples, _ = codec.decode(codes, codec.start())
        self.broken = slow(32767 * samples.clip(-1, 1), codec.rate_hz)


def slow(samples: np.ndarray, rate_hz: int) -> Samples:
    found: Samples = soxr.resample(samples.astype(np.float32), rate_hz, RATE_HZ).astype(np.int16)
    return found


@pytest.fixture(scope="module")
def said() -> Said:
    return Said()


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
    assert not judge.ready
    until(judge, lambda: found)
    return found[0]


def test_what_the_head_says_is_good_and_the_same_with_another_text_is_not(
    judge: SpeechJudge, said: Said, words: list[str]
) -> None:
    assert verdict(judge, words, said.sound)
    assert not verdict(judge, OTHER, said.sound)
    assert verdict(judge, words, said.sound)  # the one before has left nothing behind


def test_a_broken_head_is_noticed(judge: SpeechJudge, said: Said, words: list[str]) -> None:
    assert not verdict(judge, words, said.broken)


def test_silence_and_noise_do_not_fit(judge: SpeechJudge, words: list[str]) -> None:
    noise = np.random.default_rng(0).normal(0, 3000, 2 * RATE_HZ).astype(np.int16)
    assert not verdict(judge, words, np.zeros(2 * RATE_HZ, np.int16))
    assert not verdict(judge, words, noise)


def test_of_a_word_that_it_does_not_know_it_says_nothing_bad(
    judge: SpeechJudge, said: Said
) -> None:
    assert verdict(judge, ["spiders", "have", "qwzzx"], said.sound)


class Leaving:
    """pocketsphinx's decoder, whose alignments lack the last words."""

    def __init__(self, decoder: Decoder, missing: int) -> None:
        self._decoder, self._missing = decoder, missing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._decoder, name)

    def seg(self) -> list[Any]:
        found = [part for part in self._decoder.seg() if part.word[0] not in "<["]
        return found[: len(found) - self._missing]


@pytest.mark.parametrize(("missing", "fits"), [(0, True), (1, True), (2, False), (4, False)])
def test_of_words_that_fit_the_last_one_may_be_left_out(
    said: Said, words: list[str], missing: int, fits: bool
) -> None:
    aligner = SpeechAligner()
    aligner._decoder = Leaving(aligner._decoder, missing)
    assert (aligner.fit(words, said.sound) > LEAST_FIT + 1) == fits


def test_the_bound_lies_between_right_and_wrong(said: Said, words: list[str]) -> None:
    aligner = SpeechAligner()
    assert aligner.fit(words, said.sound) > LEAST_FIT + 1
    assert aligner.fit(OTHER, said.sound) < LEAST_FIT - 1
    assert NO_FIT <= aligner.fit(words, said.broken) < LEAST_FIT - 1


def test_a_judge_that_dies_is_done_without(
    said: Said, words: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    judge, found = SpeechJudge(), list[bool]()
    until(judge, lambda: judge.ready)
    judge.judge(words, said.sound, found.append)
    assert judge.pid is not None
    os.kill(judge.pid, signal.SIGKILL)
    with caplog.at_level(logging.WARNING, "speaker"):
        until(judge, lambda: found)
        until(judge, lambda: judge.pid is None)
    assert not judge.ready
    assert "is not checked any more" in caplog.text
    judge.poll()
    judge.close()


def test_one_that_hangs_is_given_up(said: Said, words: list[str], tmp_path: Path) -> None:
    program = tmp_path / "hangs.py"
    program.write_text("import os, time\nos.write(1, b'{\"ready\": 1}\\n')\ntime.sleep(600)\n")
    now_s = [0.0]
    judge, found = SpeechJudge(program, lambda: now_s[0]), list[bool]()
    until(judge, lambda: judge.ready)
    judge.judge(words, said.sound, found.append)
    judge.poll()
    assert found == []
    now_s[0] = 11.0
    judge.poll()
    assert found == [True]
    assert judge.pid is None


def test_one_that_talks_nonsense_is_given_up(tmp_path: Path) -> None:
    program = tmp_path / "nonsense.py"
    program.write_text("import os, sys\nos.write(1, b'hello\\n')\nsys.stdin.read()\n")
    judge = SpeechJudge(program)
    until(judge, lambda: judge.pid is None)
    assert not judge.ready
