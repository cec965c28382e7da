"""Late reverberation: the level of the echo that arrives after the canceller's tail has ended.

The canceller does not remove that echo. In: the response, now and then, and the power of each block
as it leaves the response's end. Out: the level expected of what still arrives. A room's sound
decays evenly (W. C. Sabine, 1922), so the response's last part tells how it would go on.
"""

from __future__ import annotations

import math

import numpy as np

from appliance.hear.aec.path_estimate import Floats

_LOOKED_AT = 0.5  # of the response, at its end: before that are the direct sound and first walls
_SLOWEST = 10 ** (-6 * 0.005 / 1.5)  # of the power, a block of 5 ms: no room echoes for over 1.5 s
_FASTEST = 10 ** (-6 * 0.005 / 0.1)  # and one of 0.1 s leaves nothing


class LateReverb:
    """`db`: of what arrives late, dB full scale; -100 for nothing."""

    def __init__(self, frames: int) -> None:
        self._frames = frames
        self._gain = self._power = 0.0  # of the first late block, of all that arrive
        self._kept = _FASTEST

    @property
    def db(self) -> float:
        return 10 * math.log10(self._power + 1e-10)

    def set_echo_path(self, taps: Floats) -> None:
        """The response, float32[n * frames]."""
        blocks = taps.reshape(-1, self._frames)
        powers = np.einsum("sf,sf->s", blocks, blocks)[-int(len(blocks) * _LOOKED_AT) :] + 1e-12
        slope, middle = np.polyfit(np.arange(len(powers)) - len(powers) / 2, np.log(powers), 1)
        self._kept = min(max(math.exp(slope), _FASTEST), _SLOWEST)
        self._gain = math.exp(middle) * self._kept ** (len(powers) / 2)

    def process(self, leaving: Floats) -> None:
        """A block: what was played a response's length ago, float32[frames], full scale 1."""
        power = float(leaving @ leaving) / self._frames
        self._power = self._kept * self._power + self._gain * power
