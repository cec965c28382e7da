"""The high-pass filter passes speech and removes hum and offsets."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.onset.highpass import HighPass
from appliance.pcm import RATE_HZ


def gain_db(corner_hz: float, order: int, tone_hz: float) -> float:
    tone = np.sin(2 * np.pi * tone_hz * np.arange(RATE_HZ) / RATE_HZ)
    high = HighPass(corner_hz, order=order, rate_hz=RATE_HZ, frames=80)
    out = np.concatenate([high(block[:, None]) for block in tone.reshape(-1, 80)])[:, 0]
    return float(10 * np.log10(np.mean(out[8000:] ** 2) / 0.5))


@pytest.mark.parametrize("order", [2, 4])
def test_at_the_corner_half_the_power_passes(order: int) -> None:
    assert gain_db(120, order, 120) == pytest.approx(-3.0, abs=0.1)


def test_mains_hum_is_attenuated_and_a_voice_passes() -> None:
    assert gain_db(120, 4, 50) < -29
    assert gain_db(120, 4, 250) > -0.1


def test_a_constant_offset_vanishes_and_stays_away() -> None:
    high = HighPass(20, order=2, rate_hz=RATE_HZ, frames=80)
    for _ in range(400):
        out = high(np.full((80, 1), 3000.0))
    assert np.abs(out).max() < 0.5


def test_filtering_in_blocks_equals_filtering_at_once() -> None:
    noise = np.random.default_rng(1).standard_normal(1600)
    at_once = HighPass(120, order=4, rate_hz=RATE_HZ, frames=1600)(noise[:, None])[:, 0]
    high = HighPass(120, order=4, rate_hz=RATE_HZ, frames=80)
    blocks = np.concatenate([high(block[:, None]) for block in noise.reshape(-1, 80)])[:, 0]
    assert np.allclose(at_once, blocks)
