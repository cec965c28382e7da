"""Late reverberation: the level of the echo that arrives after the canceller's tail has ended.

The canceller does not remove that echo. In: the response, from time to time, and each block played
once it is older than the response. Out: the expected level of the late echo. Reverberation decays
exponentially (W. C. Sabine, 1922), so the last part of the response can be extrapolated.
"""

from __future__ import annotations

import math

import numpy as np

from appliance.hear.aec.path_estimate import Floats

_FITTED_SHARE = 0.5  # last share of the response, after direct sound and first reflections
# Decay of power per block of 5 ms with a reverberation time of 1.5 s and of 0.1 s.
_SLOWEST = 10 ** (-6 * 0.005 / 1.5)
_FASTEST = 10 ** (-6 * 0.005 / 0.1)


class LateReverb:
    """`db`: expected level of the late echo, dB full scale; -100 for none."""

    def __init__(self, frames: int) -> None:
        self._frames = frames
        self._gain = self._power = 0.0  # power gain of the first late block; power of the late echo
        self._decay = _FASTEST

    @property
    def db(self) -> float:
        return 10 * math.log10(self._power + 1e-10)

    def set_echo_path(self, taps: Floats) -> None:
        """Fit the decay of the response, float32[n * frames]."""
        blocks = taps.reshape(-1, self._frames)
        powers = np.einsum("sf,sf->s", blocks, blocks)[-int(len(blocks) * _FITTED_SHARE) :] + 1e-12
        slope, mean_log = np.polyfit(np.arange(len(powers)) - len(powers) / 2, np.log(powers), 1)
        self._decay = min(max(math.exp(slope), _FASTEST), _SLOWEST)
        self._gain = math.exp(mean_log) * self._decay ** (len(powers) / 2)

    def process(self, played: Floats) -> None:
        """Add the block played one response length ago, float32[frames], full scale 1."""
        power = float(played @ played) / self._frames
        self._power = self._decay * self._power + self._gain * power
