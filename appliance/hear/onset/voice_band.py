"""Confirms an onset by the level in the voice band: tells speech from impacts, such as dishes.

In: blocks of sound above 120 Hz, and the VAD's probability. Out: whether it sounds like a voice.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from appliance.hear.onset.background import LevelQuantile
from appliance.pcm import RATE_HZ

# A voice has its power in this band, dishes have little. Of the bands tried, this one separated
# most words from a recorded kitchen.
_VOICE_HZ = (200, 2000)
# Quantile over the last 30 s. Words never fill more than a fifth of that time; with 0.95 the
# owner's own words raised the quantile, and the next ones were missed.
_SHARE, _MEMORY_BLOCKS = 0.8, 6000
_OVER_DB = 8.0  # above that quantile of the band's level
_BLOCKS = 5  # in a row, 25 ms; many impacts of dishes last 15 ms
_FAR_OVER_DB, _FAR_BLOCKS = (
    18.0,
    2,
)  # louder than impact noise in the band; shortens the wait in a quiet room
_PROBABILITY = 0.7  # of speech; clatter while the box speaks reaches 0.6 every other minute


class VoiceBandDetector:
    """Sets `speaks` after each block: whether it sounds like a voice."""

    def __init__(self, frames: int) -> None:
        self._window = np.zeros(2 * frames)
        self._frames = frames
        self._band = _band(2 * frames)
        self._quantile = LevelQuantile(_SHARE, _MEMORY_BLOCKS)
        self._loud_blocks = self._far_blocks = 0
        self.speaks = False

    def process(
        self, high_passed: npt.NDArray[np.float64], probability: float, followed: bool
    ) -> bool:
        """Process a block, float64[frames]; `followed`: a detected sound is under way."""
        n = self._frames
        self._window[:n] = self._window[n:]
        self._window[n:] = high_passed
        bins = np.dot(self._band, self._window)
        level_db = 10 * math.log10(float(bins @ bins) / (2 * n * n) + 1e-10)
        self._quantile.update(level_db, followed)
        over_db = level_db - self._quantile.db if self._quantile.known else 0.0
        self._loud_blocks = self._loud_blocks + 1 if over_db > _OVER_DB else 0
        self._far_blocks = self._far_blocks + 1 if over_db > _FAR_OVER_DB else 0
        loud = self._loud_blocks >= _BLOCKS or self._far_blocks >= _FAR_BLOCKS
        self.speaks = loud or probability >= _PROBABILITY
        return self.speaks


def _band(size: int) -> npt.NDArray[np.float64]:
    """Matrix of a windowed Fourier transform of `size` samples, limited to the voice band: the
    product takes a third of the time of a complete transform."""
    low, high = (hz * size // RATE_HZ for hz in _VOICE_HZ)
    phases = 2 * np.pi * np.outer(np.arange(low, high), np.arange(size)) / size
    return np.concatenate([np.cos(phases), np.sin(phases)]) * np.hanning(size)
