"""What is left of a sound follows from how well the response is known at its own frequencies."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.aec.misalignment import Misalignment
from appliance.hear.aec.path_estimate import Floats
from appliance.pcm import RATE_HZ

FRAMES, LENGTH = 80, 4800
LEARNED, UNKNOWN = 1e-4, 1.0


def error(known_hz: tuple[float, float]) -> Floats:
    """A response that is known to -40 dB between two frequencies, and not at all elsewhere."""
    hz = np.linspace(0, RATE_HZ / 2, LENGTH + 1)
    known = (hz >= known_hz[0]) & (hz <= known_hz[1])
    return np.where(known, LEARNED, UNKNOWN).astype(np.float32)


def tone(hz: float, level_db: float = -20.0, blocks: int = 40) -> Floats:
    wave = np.sin(2 * np.pi * hz * np.arange(FRAMES * blocks) / RATE_HZ) * np.sqrt(2)
    return np.asarray(wave * 10 ** (level_db / 20), np.float32)


def expected_db(of: Misalignment, played: Floats) -> float:
    """After the last block of it."""
    for end in range(2 * FRAMES, len(played) + 1, FRAMES):
        of.process(played[end - 2 * FRAMES : end])
    return of.db


@pytest.mark.parametrize(("hz", "left_db"), [(650.0, -60.0), (1500.0, -20.0), (5000.0, -20.0)])
def test_what_is_known_of_one_frequency_says_nothing_of_another(hz: float, left_db: float) -> None:
    of = Misalignment(FRAMES)
    of.set_error(error((300, 1000)))
    assert expected_db(of, tone(hz)) == pytest.approx(left_db, abs=2.5)


def test_noise_over_the_whole_band_is_expected_as_loud_as_it_is() -> None:
    of = Misalignment(FRAMES)
    of.set_error(np.full(LENGTH + 1, 0.5, np.float32))
    noise = np.random.default_rng(1).normal(0, 0.1, 200 * FRAMES).astype(np.float32)
    assert -23.0 < expected_db(of, noise) < -18.0  # of each band the loudest lately


def test_a_room_goes_on_for_a_while_after_the_sound() -> None:
    of = Misalignment(FRAMES)
    of.set_error(np.full(LENGTH + 1, UNKNOWN, np.float32))
    loud_db = expected_db(of, tone(1000))
    after_db = expected_db(of, np.zeros(22 * FRAMES, np.float32))  # 100 ms and a block
    assert loud_db - 8 < after_db < loud_db - 5
    assert expected_db(of, np.zeros(400 * FRAMES, np.float32)) < -90
