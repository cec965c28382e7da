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
_COMPARISONS = 6  # comparisons that must agree, half a minute
_LEAST_PPM = 4.0  # 4 samples in a minute; less is estimation noise and harmless
_BAND_HZ = 4000.0  # a voice has too little power above it to train the filter


class ClockSkewEstimator:
    """`ppm`: by how much the loudspeaker's clock is faster than the microphone's; None: unknown."""

    def __init__(self) -> None:
        self._last_taps: Floats | None = None
        self._skews_ppm: deque[float] = deque(maxlen=_COMPARISONS)
        self.ppm: float | None = None

    def update(self, taps: Floats) -> None:
        """Add the response `EVERY_S` of echo after the last one."""
        if self._last_taps is not None:
            self._skews_ppm.append(-_delay(self._last_taps, taps) / (EVERY_S * RATE_HZ) * 1e6)
        self._last_taps = taps
        if len(self._skews_ppm) < _COMPARISONS:
            return
        median = statistics.median(self._skews_ppm)
        least = min(abs(skew) for skew in self._skews_ppm if skew * median > 0) if median else 0.0
        agree = all(skew * median > 0 for skew in self._skews_ppm) and least > abs(median) / 3
        self.ppm = median if agree and abs(median) >= _LEAST_PPM else None

    def reset(self) -> None:
        """Forget earlier responses; call after an echo path change."""
        self._last_taps = None
        self._skews_ppm.clear()


def _delay(before: Floats, after: Floats) -> float:
    """The delay of `after` relative to `before` in samples: first the best integer, then the slope
    of the remaining phase, weighted by power."""
    size = 2 * len(before)
    cross = np.fft.rfft(after, size) * np.conj(np.fft.rfft(before, size))
    best = int(np.argmax(np.fft.irfft(cross)))
    integer = best - size if best > size // 2 else best
    cycles = np.arange(len(cross)) / size
    within = cycles < _BAND_HZ / RATE_HZ
    phase = np.angle(cross * np.exp(2j * np.pi * cycles * integer))[within]
    weight = np.abs(cross)[within]
    cycles = cycles[within]
    return integer - float(
        np.sum(weight * cycles * phase) / (2 * np.pi * np.sum(weight * cycles**2))
    )
