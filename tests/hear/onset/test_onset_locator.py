"""Where a sound began that is noticed now: back to the last block that was mere noise."""

from __future__ import annotations

import pytest

from appliance.hear.onset.onset_locator import OnsetLocator
from appliance.pcm import BLOCK_FRAMES
from tests.hear.bargein.blocks import QUIET

NOISE = QUIET._replace(excess_db=-10.0)
SOUND = QUIET._replace(excess_db=5.0)
RISING = QUIET._replace(excess_db=-2.0)  # stands out of nothing, and yet belongs to it


def after(*blocks: tuple[object, int]) -> OnsetLocator:
    locator = OnsetLocator()
    for block, count in blocks:
        for _ in range(count):
            locator.push(block)  # type: ignore[arg-type]  # a row of the test's
    return locator


@pytest.mark.parametrize("loud", [1, 5, 19])
def test_it_began_with_the_first_loud_block(loud: int) -> None:
    assert after((NOISE, 40), (SOUND, loud)).onset() == 40 * BLOCK_FRAMES


def test_what_rises_towards_it_is_its_beginning() -> None:
    assert after((NOISE, 40), (RISING, 3), (SOUND, 5)).onset() == 40 * BLOCK_FRAMES


def test_of_two_sounds_the_one_that_is_heard_now_counts() -> None:
    assert after((NOISE, 40), (SOUND, 4), (NOISE, 1), (SOUND, 2)).onset() == 45 * BLOCK_FRAMES


def test_further_back_than_100_ms_it_is_not_looked_for() -> None:
    assert after((NOISE, 40), (SOUND, 50)).onset() == 70 * BLOCK_FRAMES


@pytest.mark.parametrize("blocks", [1, 2, 10])
def test_a_sound_that_was_there_from_the_start_began_within_it(blocks: int) -> None:
    assert 0 <= after((SOUND, blocks)).onset() < blocks * BLOCK_FRAMES


def test_the_median_level_is_of_these_100_ms() -> None:
    assert after((SOUND._replace(energy_db=-20.0), 50), (QUIET, 11)).median_db() == -62.0
    assert after((QUIET, 50), (SOUND._replace(energy_db=-20.0), 11)).median_db() == -20.0
