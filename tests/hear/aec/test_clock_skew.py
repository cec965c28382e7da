"""The estimator tells clock skew from a steady room and from a box that was moved once."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.aec.clock_skew import EVERY_S, ClockSkewEstimator
from appliance.hear.aec.path_estimate import Floats
from appliance.pcm import RATE_HZ
from tests.hear.arena import impulse_response


def late(taps: Floats, by: float) -> Floats:
    """The same response `by` samples later."""
    size = 2 * len(taps)
    turns = np.arange(size // 2 + 1) / size
    moved = np.fft.irfft(np.fft.rfft(taps, size) * np.exp(-2j * np.pi * turns * by), size)
    return moved[: len(taps)].astype(np.float32)


def room(seed: int = 0) -> Floats:
    """An impulse response with the bandwidth of a voice."""
    taps = impulse_response(seed, rt60_s=0.15)[:3200]
    smooth = np.convolve(taps, np.hanning(5) / 2, mode="same")
    return np.pad(smooth, (0, 3200 - len(smooth))).astype(np.float32)


@pytest.mark.parametrize("ppm", [10.0, 30.0, -60.0])
def test_the_skew_between_two_clocks_is_measured(ppm: float) -> None:
    drift = ClockSkewEstimator()
    for look in range(10):
        drift.update(late(room(), -ppm * 1e-6 * RATE_HZ * EVERY_S * look))
    assert drift.ppm == pytest.approx(ppm, rel=0.1)


def test_a_single_clock_is_never_reported_as_skewed() -> None:
    rng = np.random.default_rng(0)
    drift = ClockSkewEstimator()
    for _ in range(20):
        drift.update(room() + rng.normal(0, 1e-3, 3200).astype(np.float32))
        assert drift.ppm is None


def test_a_single_move_of_the_box_is_not_reported_as_skew() -> None:
    drift = ClockSkewEstimator()
    for look in range(12):
        drift.update(late(room(1), 5.0) if look > 5 else room())
    assert drift.ppm is None


def test_no_skew_is_reported_within_the_first_half_minute() -> None:
    drift = ClockSkewEstimator()
    for look in range(6):
        drift.update(late(room(), 3.0 * look))
        assert drift.ppm is None
