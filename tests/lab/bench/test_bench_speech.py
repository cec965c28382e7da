"""What the box says in a bench: as long as asked for, the same for one seed."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.pcm import RATE_HZ
from lab.bench.bench_speech import PAUSE_S, talk


@pytest.mark.parametrize("seconds", [0.5, 3.0])
def test_it_is_as_long_as_asked_for_and_of_the_seeds_own_chance(seconds: float) -> None:
    said = talk(seconds, 1, voices=("en-us",))
    assert len(said) == round(seconds * RATE_HZ)
    assert np.array_equal(said, talk(seconds, 1, voices=("en-us",)))
    assert not np.array_equal(said, talk(seconds, 2, voices=("en-us",)))


def test_it_is_loud_and_no_silence_is_longer_than_a_pause() -> None:
    said = np.abs(talk(6.0, 3, voices=("en-us",)).astype(np.int32))
    quiet = np.flatnonzero(said > 300)
    assert np.diff(quiet).max() / RATE_HZ < max(PAUSE_S) + 0.3
    assert said.max() > 8000
