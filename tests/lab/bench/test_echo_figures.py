"""The figures of the bench of the echo cancellers, for cancellers with known results."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.aec.factory import PassThroughCanceller
from appliance.hear.aec.kalman import KalmanCanceller
from appliance.pcm import RATE_HZ, Samples
from lab.bench.echo_figures import LENGTH_S, EchoFigures, EchoScene, echo_of, measure


def speech(seed: int) -> Samples:
    """Noise that is switched on and off like syllables."""
    rng = np.random.default_rng(seed)
    frames = LENGTH_S * RATE_HZ
    loud = np.repeat(rng.random(frames // 2400) > 0.3, 2400)
    wave = np.zeros(frames)
    wave[: len(loud)] = rng.normal(0, 3000, len(loud)) * loud
    return wave.astype(np.int16)


@pytest.fixture(scope="module")
def found() -> EchoFigures:
    kalman = KalmanCanceller(tail_ms=200, frames=80, rate_hz=RATE_HZ)
    return measure(kalman, EchoScene(0.2, 1, -26.0), speech(1), speech(2))


@pytest.mark.long
def test_the_kalman_filter_cancels_the_echo_also_in_double_talk(found: EchoFigures) -> None:
    assert found.settled_db > 20
    assert found.double_db > 15
    assert found.recovery_s is not None
    assert 0 < found.recovery_s < 5
    assert found.step_us > 1


def test_the_pass_through_canceller_attenuates_nothing() -> None:
    unchanged = measure(PassThroughCanceller(), EchoScene(0.2, 1, -26.0), speech(1), speech(2))
    assert unchanged.settled_db == pytest.approx(0, abs=0.5)
    assert unchanged.double_db == pytest.approx(0, abs=0.5)


def test_with_a_fast_clock_the_echo_arrives_earlier_and_earlier() -> None:
    far = speech(3)
    steady, fast = (echo_of(EchoScene(0.2, 1, -26.0, ppm=ppm), far) for ppm in (0.0, 100.0))
    end = slice(15 * RATE_HZ, 16 * RATE_HZ)
    shifts = [float(np.corrcoef(fast[end], np.roll(steady, -by)[end])[0, 1]) for by in range(40)]
    assert abs(int(np.argmax(shifts)) - 25) <= 1  # 15.5 s at 100 ppm
