"""Phrases by espeak-ng in a quiet room, and the samples at which a spotter detects one."""

from __future__ import annotations

import numpy as np

from appliance.hear.words.interfaces import WakeWordSpotter
from appliance.pcm import RATE_HZ, Samples, from_float
from tests.hear.arena import at_level, say

QUIET = RATE_HZ // 3


def sound(text: str, voice: str = "en-us", speed: int = 160) -> Samples:
    spoken = at_level(say(text, voice, speed))
    wave = np.concatenate([np.zeros(QUIET), spoken, np.zeros(QUIET)])
    return from_float(wave + np.random.default_rng(0).normal(0, 3e-4, len(wave)))


def heard_at(spotter: WakeWordSpotter, samples: Samples) -> list[int]:
    return [at for at in range(0, len(samples), 480) if spotter.process(samples[at : at + 480])]
