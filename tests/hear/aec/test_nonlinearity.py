"""A distorting loudspeaker is modelled, and a linear one is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.aec.nonlinearity import LoudspeakerNonlinearity, saturation
from tests.hear.aec.test_kalman import answer, echo_of, kalman, left_of, room, taken_db


def test_soft_sounds_are_not_distorted() -> None:
    soft = np.linspace(-0.01, 0.01, 100, dtype=np.float32)
    assert np.abs(saturation(soft)).max() < 1e-5


@pytest.mark.parametrize("drive", [1.5, 3.0])
@pytest.mark.long
def test_a_distorting_loudspeaker_costs_less_than_ten_db(drive: float) -> None:
    """A linear filter alone reduces the echo by 22 dB at 1.5 and 14 dB at 3, instead of 33."""
    played = (answer(12).astype(float) * 1.5).clip(-32768, 32767).astype(np.int16)
    bent = np.tanh(played * (drive / 32768)) * (32768 / drive)
    mic = echo_of(np.rint(bent).astype(np.int16), room(8))
    left = left_of(kalman(), mic, played)
    assert taken_db(mic, left, 8, 12) > 24


def test_a_linear_loudspeaker_is_modelled_as_linear() -> None:
    bend, rng = LoudspeakerNonlinearity(), np.random.default_rng(0)
    for _ in range(200):
        far = rng.normal(0, 0.2, 3200).astype(np.float32)
        bend.learn(rng.normal(0, 0.01, 3200).astype(np.float32), far, saturation(far))
    assert bend.share == 0.0
    assert bend.apply(far) is far


def test_silence_changes_nothing() -> None:
    bend, none = LoudspeakerNonlinearity(), np.zeros(3200, np.float32)
    for _ in range(10):
        bend.learn(none, none, none)
    assert bend.share == 0.0


def test_the_nonlinearity_does_not_slow_down_learning_a_room() -> None:
    played = answer(4)
    mic = echo_of(played, room(9))
    assert taken_db(mic, left_of(kalman(), mic, played), 2, 4) > 20
