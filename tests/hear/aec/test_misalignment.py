"""The residual of a sound follows from the error of the response at the sound's frequencies."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.aec.misalignment import Misalignment
from appliance.hear.aec.path_estimate import Floats, forward
from appliance.pcm import RATE_HZ

FRAMES, LENGTH = 80, 4800
LEARNED, UNKNOWN = 1e-4, 1.0


def error(known_hz: tuple[float, float]) -> Floats:
    """The error of a response known to -40 dB between two frequencies and unknown elsewhere."""
    hz = np.linspace(0, RATE_HZ / 2, LENGTH + 1)
    known = (hz >= known_hz[0]) & (hz <= known_hz[1])
    return np.where(known, LEARNED, UNKNOWN).astype(np.float32)


def tone(hz: float, level_db: float = -20.0, blocks: int = 40) -> Floats:
    wave = np.sin(2 * np.pi * hz * np.arange(FRAMES * blocks) / RATE_HZ) * np.sqrt(2)
    return np.asarray(wave * 10 ** (level_db / 20), np.float32)


def expected_db(estimate: Misalignment, played: Floats) -> float:
    """The expected residual after the last block of `played`."""
    for end in range(2 * FRAMES, len(played) + 1, FRAMES):
        estimate.process(forward(estimate.window * played[end - 2 * FRAMES : end]))
    return estimate.db


@pytest.mark.parametrize(("hz", "left_db"), [(650.0, -60.0), (1500.0, -20.0), (5000.0, -20.0)])
def test_the_error_at_one_frequency_does_not_affect_another(hz: float, left_db: float) -> None:
    estimate = Misalignment(FRAMES)
    estimate.set_error(error((300, 1000)))
    assert expected_db(estimate, tone(hz)) == pytest.approx(left_db, abs=2.5)


def test_the_residual_of_broadband_noise_is_predicted_at_its_level() -> None:
    estimate = Misalignment(FRAMES)
    estimate.set_error(np.full(LENGTH + 1, 0.5, np.float32))
    noise = np.random.default_rng(1).normal(0, 0.1, 200 * FRAMES).astype(np.float32)
    assert -23.0 < expected_db(estimate, noise) < -18.0  # each band keeps its recent maximum


def test_the_expected_residual_decays_after_the_sound_ends() -> None:
    estimate = Misalignment(FRAMES)
    estimate.set_error(np.full(LENGTH + 1, UNKNOWN, np.float32))
    loud_db = expected_db(estimate, tone(1000))
    after_db = expected_db(estimate, np.zeros(22 * FRAMES, np.float32))  # 100 ms and a block
    assert loud_db - 8 < after_db < loud_db - 5
    assert expected_db(estimate, np.zeros(400 * FRAMES, np.float32)) < -90
