"""Features are causal, independent of the chunk size, and correct in pitch and loudness."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.bargein.features import (
    AGE,
    BAND_COLUMNS,
    GIVEN_MS,
    JUDGED,
    LOUDER,
    PAST_MS,
    PITCH,
    QUIET,
    SPEECH,
    STANDS_OUT,
    VOICING,
    WIDTH,
    BlockMeasures,
    FeatureExtractor,
    Floats,
    all_rows,
)
from appliance.pcm import RATE_HZ, Samples

STEP = 80
PAST = GIVEN_MS * RATE_HZ // 1000
LOUD = BlockMeasures(-26.0, -62.0, 0.9, 0.0, 0.0)


def voice(pitch_hz: float, seconds: float = 1.2) -> Samples:
    time_s = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    pulses = sum(np.sin(2 * np.pi * pitch_hz * k * time_s) / k for k in range(1, 12))
    return (2500 * np.asarray(pulses)).astype(np.int16)


def rows_of(sound: Samples, measure: BlockMeasures = LOUD) -> Floats:
    later = [sound[at : at + STEP] for at in range(PAST, len(sound) - STEP + 1, STEP)]
    return all_rows(sound[:PAST], later, [measure] * len(later))


@pytest.mark.parametrize("pitch_hz", [85.0, 140.0, 260.0])
def test_the_pitch_of_a_voice_is_found(pitch_hz: float) -> None:
    rows = rows_of(voice(pitch_hz))[10:]
    assert np.median(rows[:, VOICING]) > 0.9
    assert 150 * 2 ** np.median(rows[:, PITCH]) == pytest.approx(pitch_hz, rel=0.03)


def test_noise_is_not_voiced() -> None:
    hiss = np.random.default_rng(0).normal(0, 2000, 16_000).astype(np.int16)
    rows = rows_of(hiss)[10:]
    assert np.median(rows[:, VOICING]) < 0.5
    assert np.mean(rows[:, PITCH] == 0.0) > 0.5


@pytest.mark.parametrize("every", [1, 3, 8, 31])
def test_rows_do_not_depend_on_how_often_they_are_popped(every: int) -> None:
    sound = voice(120)
    features = FeatureExtractor()
    features.start(sound[:PAST])
    parts = []
    for i, at in enumerate(range(PAST, len(sound) - STEP + 1, STEP)):
        features.push(sound[at : at + STEP], LOUD)
        if i % every == 0:
            parts.append(features.pop_rows(2))
    taken = np.concatenate(parts)
    assert len(taken) % 2 == 0
    assert np.allclose(taken, rows_of(sound)[: len(taken)], atol=1e-4)


def test_rows_do_not_depend_on_later_samples() -> None:
    sound = voice(120)
    changed = sound.copy()
    changed[10_000:] = 0
    before = (10_000 - (GIVEN_MS - PAST_MS) * 16) // 160
    assert np.array_equal(rows_of(sound)[:before], rows_of(changed)[:before])
    assert not np.array_equal(rows_of(sound), rows_of(changed))


def test_the_level_hardly_changes_the_bands() -> None:
    sound = voice(120)
    sound += np.random.default_rng(0).normal(0, 60, len(sound)).astype(np.int16)
    softer = (sound * 0.1).astype(np.int16)
    apart = np.abs(rows_of(sound) - rows_of(softer))[12:, BAND_COLUMNS]
    assert np.median(apart) < 0.1


def test_age_counts_from_the_onset() -> None:
    rows = rows_of(voice(120))
    assert rows[PAST_MS // 10, AGE] == 0.0
    assert rows[PAST_MS // 10 + 70, AGE] == pytest.approx(1.0)


def test_block_measures_appear_in_the_rows_of_their_blocks() -> None:
    rows = rows_of(voice(120), BlockMeasures(-26.0, -56.0, 0.8, 5.0, 150.0))
    first = PAST_MS // 10
    assert not rows[:first, JUDGED].any()
    assert rows[first:, JUDGED].all()
    wanted = {STANDS_OUT: 1.0, SPEECH: 0.8, LOUDER: 0.5, QUIET: 0.5}
    for column, value in wanted.items():
        assert rows[-1, column] == pytest.approx(value)


def test_a_segment_without_a_past_has_rows_too() -> None:
    features = FeatureExtractor()
    features.start(np.zeros(0, np.int16))
    for _ in range(20):
        features.push(np.zeros(STEP, np.int16), LOUD)
    rows = features.pop_rows()
    assert rows.shape == (10, WIDTH)
    assert np.isfinite(rows).all()
