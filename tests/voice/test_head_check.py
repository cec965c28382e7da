"""The head's check of its sound: speech passes; silence, loops and endless sound do not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from appliance.pcm import Samples
from appliance.voice.head_check import (
    FRAMES_A_TOKEN,
    QUIET_FRAMES,
    SAME_FRAMES,
    SPARE_FRAMES,
    HeadCheck,
)

DBFS = -20.0
RNG = np.random.default_rng(5)
SILENCE = np.zeros(1280, np.int16)


def loud(dbfs: float = DBFS) -> Samples:
    return (RNG.normal(0, 32768 * 10 ** (dbfs / 20), 1280)).astype(np.int16)


def verdict(frames: Iterable[tuple[Samples, tuple[int, ...]]], words: int = 8) -> str:
    check = HeadCheck(DBFS, words)
    return next((wrong for frame in frames if (wrong := check.add(*frame))), "") or check.end()


def test_a_sentence_that_changes_steadily_passes() -> None:
    assert verdict((loud(), (n, n % 7)) for n in range(60)) == ""


def test_pauses_of_up_to_one_and_a_half_seconds_pass() -> None:
    pause = [(SILENCE, (0, 0))] * 18
    speech = [(loud(), (n,)) for n in range(10)]
    assert verdict([*speech, *pause, *speech]) == ""


def test_a_longer_silence_within_a_sentence_fails() -> None:
    assert verdict([(loud(), (1,)), *[(SILENCE, (0,))] * (QUIET_FRAMES + 1)]) == "it falls silent"


@pytest.mark.parametrize("frames", [0, 5])
def test_a_sentence_without_energy_fails(frames: int) -> None:
    assert verdict([(loud(DBFS - 45), (n,)) for n in range(frames)]) == "it makes no sound"


@pytest.mark.parametrize("period", [1, 2, 3, 4])
def test_a_repeated_sound_fails(period: int) -> None:
    frames = [(loud(), (n % period,)) for n in range(SAME_FRAMES + period)]
    assert verdict(frames) == "it repeats a sound"
    assert verdict(frames[:-1]) == ""


def test_repeated_codes_of_silence_are_not_a_loop() -> None:
    quiet = [(SILENCE, (0,))] * (SAME_FRAMES + 5)
    assert verdict([(loud(), (1,)), *quiet, (loud(), (2,))]) == ""


def test_sound_far_longer_than_its_words_fails() -> None:
    most = 2 * FRAMES_A_TOKEN + SPARE_FRAMES
    frames = [(loud(), (n,)) for n in range(most + 1)]
    assert verdict(frames, words=2) == "it takes too long"
    assert verdict(frames[:-1], words=2) == ""
