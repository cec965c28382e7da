"""Measures of one sound: duration, level, tone and share of voice."""

from __future__ import annotations

import pytest

from appliance.hear.bargein.segment import BLOCK_MS, Segment, usual_after
from appliance.hear.onset.frontend import AudioBlock
from tests.hear.bargein.blocks import LOUD, QUIET, block


def measured(*blocks: AudioBlock, usual_db: float | None = None) -> Segment:
    segment = Segment(usual_db)
    for block_ in blocks:
        segment.update(block_)
    return segment


def test_a_span_lasts_to_the_last_loud_block_gaps_included() -> None:
    sound = measured(*[LOUD] * 10, *[QUIET] * 4, *[LOUD] * 6, *[QUIET] * 5)
    assert (sound.span_ms, sound.quiet_ms) == (20 * BLOCK_MS, 5 * BLOCK_MS)


def test_before_any_sound_the_span_is_zero_and_voicing_undecided() -> None:
    nothing = measured(*[QUIET] * 5)
    assert (nothing.span_ms, nothing.quiet_ms) == (0, 5 * BLOCK_MS)
    assert nothing.voiced == 0.5  # neither a voice nor none


@pytest.mark.parametrize(("level_db", "counts"), [(-50.0, True), (-52.0, False)])
def test_sound_far_softer_than_the_peak_counts_as_reverberation(
    level_db: float, counts: bool
) -> None:
    sound = measured(*[LOUD] * 10, *[block(level_db)] * 10)
    assert sound.span_ms == (20 if counts else 10) * BLOCK_MS


@pytest.mark.parametrize(("level_db", "counts"), [(-53.0, True), (-55.0, False)])
def test_sound_hardly_above_the_noise_floor_does_not_count(level_db: float, counts: bool) -> None:
    assert bool(measured(*[block(level_db)] * 10).span_ms) == counts  # the noise: -62 dB


@pytest.mark.parametrize("tone_hz", [300, 500, 1000])
def test_the_tone_of_a_sine_is_its_frequency(tone_hz: float) -> None:
    assert measured(*[block(-26, tone_hz=tone_hz)] * 20).tone_hz == pytest.approx(tone_hz, rel=0.06)


def test_the_level_is_of_the_loud_blocks_and_the_peak_of_the_loudest() -> None:
    sound = measured(*[block(-30)] * 10, *[QUIET] * 50, block(-20))
    assert sound.peak_db == -20
    assert -30 < sound.level_db < -25
    assert measured(*[block(-30)] * 10, *[QUIET] * 50).level_db == pytest.approx(-30, abs=0.5)


def test_voicing_is_the_mean_of_the_known_speech_probabilities() -> None:
    unasked = LOUD._replace(probability=None)
    sound = measured(
        LOUD._replace(probability=0.8), unasked, unasked, LOUD._replace(probability=0.4)
    )
    assert sound.voiced == pytest.approx(0.6)


def test_loudness_is_relative_to_the_usual_level_and_zero_without_one() -> None:
    assert measured(LOUD).louder_db == 0.0
    assert measured(*[block(-26)] * 9, usual_db=-38.0).louder_db == pytest.approx(12, abs=0.5)


def test_the_usual_level_follows_slowly() -> None:
    first = measured(*[block(-30)] * 9)
    assert usual_after(None, first) == first.level_db
    shout = measured(*[block(-20)] * 9)
    assert usual_after(-30.0, shout) == pytest.approx(-27, abs=0.2)
