"""Detects an echo path change: the canceller's residue correlates with the expected echo.

In: the residue and the expected echo, every block. Out: whether the path changed, and the echo's
gain now. After a change of volume the residue resembles the expected echo; after a move it
resembles its negative, since the wrong echo was subtracted; a voice resembles neither.
"""

from __future__ import annotations

import math
from collections import deque

from appliance.hear.aec.path_estimate import Floats

_BLOCKS = 16  # 80 ms: over shorter times two voices may correlate by chance
# Correlation: after a move it is about -0.71, after a turn of the volume 1 or -1.
_MOVED, _VOLUME = 0.65, 0.85
_LOUD = 0.2  # least residue as a share of the expected echo's energy; usually it is less
_LEAST = 1e-6  # mean square of the expected echo, -60 dBFS; softer blocks are ignored
# Least energy of the expected echo as a share of its recent peak: at the end of an echo, and at the
# start of a sound before its echo arrives, there are only small errors of the response.
_NEAR_PEAK, _PEAK_KEPT = 0.03, 0.998  # the peak is halved in 1.7 s
_LEAST_GAIN, _MOST_GAIN = 0.1, 10.0  # no volume control changes more at once


class EchoPathChangeDetector:
    """`gain`: factor from the expected to the present echo; None: the response is invalid now."""

    def __init__(self) -> None:
        self._products: deque[tuple[float, float, float]] = deque(maxlen=_BLOCKS)
        self._peak = 0.0  # of the expected echo's energy in the last blocks
        self.gain: float | None = 1.0

    def process(self, residue: Floats, echo: Floats) -> bool:
        """Process a block; returns whether the path changed, and then starts anew."""
        row = (float(residue @ residue), float(echo @ echo), float(residue @ echo))
        self._products.append(row)
        if len(self._products) < _BLOCKS:
            return False
        residue_power, echo_power, cross_power = map(sum, zip(*self._products, strict=True))
        self._peak = max(self._peak * _PEAK_KEPT, echo_power)
        least = max(_LEAST * _BLOCKS * len(residue), _NEAR_PEAK * self._peak)
        if echo_power < least or residue_power < _LOUD * echo_power:
            return False
        correlation = cross_power / math.sqrt(residue_power * echo_power)
        gain = 1.0 + cross_power / echo_power
        if abs(correlation) > _VOLUME and gain > _LEAST_GAIN:
            self.gain = min(gain, _MOST_GAIN)
        elif -_VOLUME < correlation < -_MOVED:
            self.gain = None
        else:
            return False
        self._products.clear()
        return True
