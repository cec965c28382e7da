"""Log-mel features equal Whisper's definition for any length and loudness."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from appliance.hear.turn.log_mel import BANDS, ROWS, WINDOW_FRAMES, log_mel
from appliance.pcm import Samples

Floats = npt.NDArray[np.float64]


def sound(frames: int, seed: int = 1) -> Samples:
    chance = np.random.default_rng(seed)
    wave = chance.normal(0, 900, frames) * np.sin(np.arange(frames) / 9000)
    return wave.astype(np.int16)


def by_definition(samples: Samples) -> Floats:
    """The features by the definition of the discrete Fourier transform, in double precision."""
    wave = np.zeros(128_000)
    newest = samples[-128_000:] / 32768
    wave[len(wave) - len(newest) :] = newest
    wave = (wave - wave.mean()) / np.sqrt(wave.var() + 1e-7)
    padded = np.concatenate([wave[200:0:-1], wave, wave[-2:-202:-1]])
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    angles = -2j * np.pi * np.outer(np.arange(400), np.arange(201)) / 400
    frames = np.stack([padded[160 * row : 160 * row + 400] for row in range(800)])
    power = np.abs((frames * hann) @ np.exp(angles)) ** 2
    top = 15 + np.log(8) / (np.log(6.4) / 27)
    mels = np.linspace(0, top, 82)
    edges = np.where(mels < 15, mels * 200 / 3, 1000 * 6.4 ** ((mels - 15) / 27))
    bands = np.zeros((800, 80))
    for band in range(80):
        low, middle, high = edges[band : band + 3]
        for place in range(201):
            hz = 40.0 * place
            weight = min((hz - low) / (middle - low), (high - hz) / (high - middle))
            bands[:, band] += max(0.0, weight) * 2 / (high - low) * power[:, place]
    scaled = np.log10(np.maximum(bands, 1e-10))
    found: Floats = ((np.maximum(scaled, scaled.max() - 8) + 4) / 4).T
    return found


@pytest.mark.parametrize("frames", [12_345, WINDOW_FRAMES, WINDOW_FRAMES + 5000])
def test_features_equal_whispers_definition(frames: int) -> None:
    samples = sound(frames)
    found = log_mel(samples)
    assert found.shape == (BANDS, ROWS)
    assert found.dtype == np.float32
    assert np.abs(found - by_definition(samples)).max() < 1e-4


def test_only_the_newest_8_s_count_and_are_right_aligned() -> None:
    samples = sound(WINDOW_FRAMES)
    before = np.append(sound(30_000, seed=2), samples)
    assert np.array_equal(log_mel(before), log_mel(samples))
    short = log_mel(sound(16_000))
    assert np.ptp(short[:, :690]) < np.ptp(short[:, 710:])


def test_the_level_does_not_change_the_features() -> None:
    soft = sound(50_000)
    assert np.abs(log_mel(soft) - log_mel(soft * np.int16(4))).max() < 2e-3


def test_digital_silence_has_finite_features() -> None:
    assert np.isfinite(log_mel(np.zeros(16_000, np.int16))).all()
