"""Detects a change of the echo path: what the canceller leaves correlates with the expected echo.

In: what is left of the microphone and the echo as it was expected, every block. Out: yes, and how
loud the echo is now. After a turn of a volume knob what is left looks like the expected echo, after
a move like its negative, since the wrong echo was taken away; a voice looks like neither.
"""

from __future__ import annotations

import math
from collections import deque

from appliance.hear.aec.path_estimate import Floats

_BLOCKS = 16  # 80 ms: over less, two voices may look alike by chance
# Correlation: after a move it is about -0.71, after a turn of the volume 1 or -1.
_ALIKE, _THE_SAME = 0.65, 0.85
_LOUD = 0.2  # of the expected echo's energy must be left: what is usually left is less
_LEAST = 1e-6  # mean square of the expected echo, -60 dBFS: softer ones do not matter
# Of the loudest lately, the expected echo's energy must be: in the end of an echo, and in the first
# of a sound that has not arrived yet, small faults of the response are all there is.
_NEAR_PEAK, _PEAK_KEPT = 0.03, 0.998  # the peak is halved in 1.7 s
_LEAST_GAIN, _MOST_GAIN = 0.1, 10.0  # no knob does more at once


class EchoPathChangeDetector:
    """`gain`: of the expected echo, to explain the microphone; None: nothing of it holds now."""

    def __init__(self) -> None:
        self._products: deque[tuple[float, float, float]] = deque(maxlen=_BLOCKS)
        self._peak = 0.0  # of the expected echo's energy in all blocks kept
        self.gain: float | None = 1.0

    def process(self, left: Floats, echo: Floats) -> bool:
        """One block. After a yes it begins afresh."""
        row = (float(left @ left), float(echo @ echo), float(left @ echo))
        self._products.append(row)
        if len(self._products) < _BLOCKS:
            return False
        left_power, echo_power, both = map(sum, zip(*self._products, strict=True))
        self._peak = max(self._peak * _PEAK_KEPT, echo_power)
        least = max(_LEAST * _BLOCKS * len(left), _NEAR_PEAK * self._peak)
        if echo_power < least or left_power < _LOUD * echo_power:
            return False
        alike = both / math.sqrt(left_power * echo_power)
        gain = 1.0 + both / echo_power
        if abs(alike) > _THE_SAME and gain > _LEAST_GAIN:
            self.gain = min(gain, _MOST_GAIN)
        elif -_THE_SAME < alike < -_ALIKE:
            self.gain = None
        else:
            return False
        self._products.clear()
        return True
