"""Synthetic noises: each is audible, ends, and is the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.pcm import RATE_HZ
from lab.sim.synthetic_noises import LEAD_FRAMES, NOISES, noise


@pytest.mark.parametrize("name", sorted(NOISES))
def test_a_noise_begins_after_silence_and_ends_within_seconds(name: str) -> None:
    clip = noise(name, 1)
    assert clip.clear
    assert not clip.samples[:LEAD_FRAMES].any()
    assert LEAD_FRAMES <= clip.onset < clip.end
    assert 0.1 < (clip.end - clip.onset) / RATE_HZ < 4
    assert np.isfinite(clip.samples).all()


def test_each_seed_gives_a_different_noise() -> None:
    first, again, other = (noise("cough", seed).samples for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first[:3000], other[:3000])


def test_an_unknown_noise_raises_a_key_error() -> None:
    with pytest.raises(KeyError):
        noise("thunder", 1)
