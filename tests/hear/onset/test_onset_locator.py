"""The onset of a detected sound is located by going back to the last block of noise."""

from __future__ import annotations

import pytest

from appliance.hear.onset.onset_locator import OnsetLocator
from appliance.pcm import BLOCK_FRAMES
from tests.hear.bargein.blocks import QUIET

NOISE = QUIET._replace(excess_db=-10.0)
SOUND = QUIET._replace(excess_db=5.0)
RISING = QUIET._replace(excess_db=-2.0)  # below the margin, but part of the sound


def after(*blocks: tuple[object, int]) -> OnsetLocator:
    locator = OnsetLocator()
    for block, count in blocks:
        for _ in range(count):
            locator.push(block)  # type: ignore[arg-type]  # a row of the test
    return locator


@pytest.mark.parametrize("loud", [1, 5, 19])
def test_the_onset_is_the_first_loud_block(loud: int) -> None:
    assert after((NOISE, 40), (SOUND, loud)).onset() == 40 * BLOCK_FRAMES


def test_a_rise_before_the_sound_belongs_to_its_onset() -> None:
    assert after((NOISE, 40), (RISING, 3), (SOUND, 5)).onset() == 40 * BLOCK_FRAMES


def test_the_onset_is_of_the_newer_of_two_sounds() -> None:
    assert after((NOISE, 40), (SOUND, 4), (NOISE, 1), (SOUND, 2)).onset() == 45 * BLOCK_FRAMES


def test_the_onset_is_at_most_100_ms_back() -> None:
    assert after((NOISE, 40), (SOUND, 50)).onset() == 70 * BLOCK_FRAMES


@pytest.mark.parametrize("blocks", [1, 2, 10])
def test_a_sound_present_from_the_start_has_its_onset_within_it(blocks: int) -> None:
    assert 0 <= after((SOUND, blocks)).onset() < blocks * BLOCK_FRAMES


def test_the_median_level_covers_the_last_100_ms() -> None:
    assert after((SOUND._replace(energy_db=-20.0), 50), (QUIET, 11)).median_db() == -62.0
    assert after((QUIET, 50), (SOUND._replace(energy_db=-20.0), 11)).median_db() == -20.0
