"""A second witness for the gate: is what stands out like a voice, or one more dish in the sink?

In: steps of sound above 120 Hz, and what the network thinks of it. Out: yes or no.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from appliance.hear.habit import Levels
from appliance.processes import RATE_HZ

# Where a voice has its power and dishes have little. Of the bands tried, the one that told most
# words from a recorded kitchen.
_VOICE_HZ = (200, 2000)
_SHARE, _MEMORY_STEPS = 0.95, 6000  # of the last 30 s
_OVER_DB = 10.0  # above what the room seldom exceeds in that band, in two steps of sound
_PROBABILITY = 0.3  # of speech: clatter has under 0.1, clear words pass it within 50 ms


class Witness:
    """`speaks` after each step."""

    def __init__(self, frames: int) -> None:
        self._window = np.zeros(2 * frames)
        self._taper = np.hanning(2 * frames)
        self._frames = frames
        self._bins = slice(*(hz * 2 * frames // RATE_HZ for hz in _VOICE_HZ))
        self._usual = Levels(_SHARE, _MEMORY_STEPS)
        self._loud_before = False
        self.speaks = False

    def feed(self, hissing: npt.NDArray[np.float64], probability: float, followed: bool) -> bool:
        """One step, float64[frames]; `followed`: a sound that stood out is under way."""
        n = self._frames
        self._window[:n] = self._window[n:]
        self._window[n:] = hissing
        bins = np.fft.rfft(self._window * self._taper)[self._bins]
        level_db = 10 * math.log10(float(np.vdot(bins, bins).real) / (2 * n * n) + 1e-10)
        self._usual.feed(level_db, followed)
        loud = self._usual.known and level_db > self._usual.db + _OVER_DB
        self.speaks = probability >= _PROBABILITY or (loud and self._loud_before)
        self._loud_before = loud
        return self.speaks
