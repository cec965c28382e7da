"""Noises made from nothing: each sounds, ends, and comes again for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.pcm import RATE_HZ
from lab.sim.synthetic_noises import LEAD_FRAMES, NOISES, noise


@pytest.mark.parametrize("name", sorted(NOISES))
def test_a_noise_begins_after_silence_and_is_over_in_a_few_seconds(name: str) -> None:
    clip = noise(name, 1)
    assert clip.clear
    assert not clip.samples[:LEAD_FRAMES].any()
    assert LEAD_FRAMES <= clip.onset < clip.end
    assert 0.1 < (clip.end - clip.onset) / RATE_HZ < 4
    assert np.isfinite(clip.samples).all()


def test_a_seed_is_a_noise_of_its_own() -> None:
    first, again, other = (noise("cough", seed).samples for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first[:3000], other[:3000])


def test_there_is_no_noise_of_another_name() -> None:
    with pytest.raises(KeyError):
        noise("thunder", 1)
