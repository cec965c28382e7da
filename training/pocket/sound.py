"""Clips as arrays: 16 kHz, one channel, float32 between -1 and 1."""

from typing import Any

import numpy as np
import numpy.typing as npt

SAMPLE_RATE = 16_000
Array = npt.NDArray[Any]


def rms(x: Array) -> float:
    return float(np.sqrt(np.mean(np.square(x)) + 1e-12))


def at_ratio(signal: Array, noise: Array, ratio_db: float) -> Array:
    """The noise scaled to a level ratio_db below the signal's."""
    scaled: Array = noise * (rms(signal) / rms(noise) * 10 ** (-ratio_db / 20))
    return scaled


def fit(x: Array, samples: int, g: np.random.Generator) -> Array:
    """A random stretch of x of that length, repeated where it is too short."""
    if len(x) < samples:
        x = np.tile(x, samples // max(len(x), 1) + 1)
    start = g.integers(0, len(x) - samples + 1)
    return x[start : start + samples]
