"""The start of the last word in a stretch of speech."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.audio.word_boundary import last_word
from appliance.pcm import RATE_HZ, Samples
from tests.audio.rig import noise

MS = RATE_HZ // 1000


def speech(*pieces: tuple[int, float]) -> Samples:
    """Consecutive pieces of noise, each given as (ms, dB)."""
    return np.concatenate(
        [(noise(ms * MS, seed=ms) * 10 ** (db / 20)).astype(np.int16) for ms, db in pieces]
    )


WORD, GAP, SOFT = 0.0, -60.0, -22.0


@pytest.mark.parametrize(
    ("pieces", "back_ms"),
    [
        (((400, WORD), (80, GAP), (300, WORD)), 300),
        (((300, WORD), (60, GAP), (300, WORD), (60, GAP), (400, WORD)), 400),
        (
            ((400, WORD), (80, GAP), (300, WORD), (30, GAP), (200, WORD)),
            530,
        ),  # a plosive's closure, as in "act"
        (
            ((400, WORD), (80, GAP), (300, WORD), (80, GAP), (100, WORD)),
            480,
        ),  # less than a syllable
        (((500, WORD), (40, SOFT), (300, WORD)), 320),  # no gap: the deepest dip
        (((700, WORD), (200, GAP)), 0),  # the word is over
    ],
)
def test_the_last_word_begins_after_the_last_gap(
    pieces: tuple[tuple[int, float], ...], back_ms: int
) -> None:
    assert last_word(speech(*pieces)) == pytest.approx(back_ms * MS, abs=30 * MS)


@pytest.mark.parametrize("ms", [0, 3, 150])
def test_less_than_a_syllable_is_repeated_completely(ms: int) -> None:
    sound = speech((ms, WORD)) if ms else np.zeros(0, np.int16)
    assert last_word(sound) == len(sound)


@pytest.mark.parametrize("ms", [155, 700, 1203])
@pytest.mark.parametrize("level", [WORD, GAP, -90.0])
def test_the_boundary_is_never_outside_the_sound(ms: int, level: float) -> None:
    assert 0 <= last_word(speech((ms, level))) <= ms * MS


def test_a_quiet_voice_has_the_same_boundary_as_a_loud_one() -> None:
    loud = speech((400, WORD), (80, GAP), (300, WORD))
    assert last_word((loud * 0.1).astype(np.int16)) == last_word(loud)
