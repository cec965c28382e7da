"""Two clocks are told from a room, and a moved box from two clocks."""

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
    """A response of a voice's bandwidth."""
    taps = impulse_response(seed, rt60_s=0.15)[:3200]
    smooth = np.convolve(taps, np.hanning(5) / 2, mode="same")
    return np.pad(smooth, (0, 3200 - len(smooth))).astype(np.float32)


@pytest.mark.parametrize("ppm", [10.0, 30.0, -60.0])
def test_clocks_that_differ_are_measured(ppm: float) -> None:
    drift = ClockSkewEstimator()
    for look in range(10):
        drift.update(late(room(), -ppm * 1e-6 * RATE_HZ * EVERY_S * look))
    assert drift.ppm == pytest.approx(ppm, rel=0.1)


def test_one_clock_is_never_two() -> None:
    rng = np.random.default_rng(0)
    drift = ClockSkewEstimator()
    for _ in range(20):
        drift.update(room() + rng.normal(0, 1e-3, 3200).astype(np.float32))
        assert drift.ppm is None


def test_a_box_that_was_moved_once_has_one_clock() -> None:
    drift = ClockSkewEstimator()
    for look in range(12):
        drift.update(late(room(1), 5.0) if look > 5 else room())
    assert drift.ppm is None


def test_nothing_is_said_within_the_first_half_minute() -> None:
    drift = ClockSkewEstimator()
    for look in range(6):
        drift.update(late(room(), 3.0 * look))
        assert drift.ppm is None
