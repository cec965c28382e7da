"""Estimates the skew between the clocks of microphone and loudspeaker from the echo path's drift.

In: the canceller's response every few seconds. Out: the skew in ppm, once it is certain. A steady
drift of the echo's delay is clock skew and not a change of the room.
"""

from __future__ import annotations

import statistics
from collections import deque

import numpy as np

from appliance.hear.aec.path_estimate import Floats
from appliance.pcm import RATE_HZ

EVERY_S = 5.0  # between two compared responses
_LOOKS = 6  # comparisons that must agree, half a minute
_LEAST_PPM = 4.0  # 4 samples in a minute; less is estimation noise and harmless
_BAND_HZ = 4000.0  # a voice has too little power above it to train the filter


class ClockSkewEstimator:
    """`ppm`: by how much the loudspeaker's clock is faster than the microphone's; None: unknown."""

    def __init__(self) -> None:
        self._last: Floats | None = None
        self._found: deque[float] = deque(maxlen=_LOOKS)
        self.ppm: float | None = None

    def update(self, taps: Floats) -> None:
        """Add the response `EVERY_S` of echo after the last one."""
        if self._last is not None:
            self._found.append(-_later(self._last, taps) / (EVERY_S * RATE_HZ) * 1e6)
        self._last = taps
        if len(self._found) < _LOOKS:
            return
        middle = statistics.median(self._found)
        least = min(abs(one) for one in self._found if one * middle > 0) if middle else 0.0
        agree = all(one * middle > 0 for one in self._found) and least > abs(middle) / 3
        self.ppm = middle if agree and abs(middle) >= _LEAST_PPM else None

    def reset(self) -> None:
        """Forget earlier responses; call after an echo path change."""
        self._last = None
        self._found.clear()


def _later(before: Floats, after: Floats) -> float:
    """The delay of `after` relative to `before` in samples: first the best integer, then the slope
    of the remaining phase, weighted by power."""
    size = 2 * len(before)
    cross = np.fft.rfft(after, size) * np.conj(np.fft.rfft(before, size))
    best = int(np.argmax(np.fft.irfft(cross)))
    whole = best - size if best > size // 2 else best
    turns = np.arange(len(cross)) / size
    within = turns < _BAND_HZ / RATE_HZ
    phase = np.angle(cross * np.exp(2j * np.pi * turns * whole))[within]
    weight = np.abs(cross)[within]
    turns = turns[within]
    return whole - float(np.sum(weight * turns * phase) / (2 * np.pi * np.sum(weight * turns**2)))
