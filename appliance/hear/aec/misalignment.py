"""Misalignment: the level of the residual echo that is due to the error of the response.

In: the power of the response's error at each frequency, as the Kalman filter tracks it, and each
block played. Out: the expected level. It is summed over all frequencies that are played: after a
chime the filter has learned only the chime's few frequencies and not those of the voice after it.
"""

from __future__ import annotations

import math

import numpy as np

from appliance.hear.aec.path_estimate import Floats, Spectrum, power_of

_DECAY = np.float32(10**-0.03)  # decay of a band's power per block of 5 ms, as in the room
_LOWEST_BIN = 1  # 100 Hz: lower bins contain no voice and are filtered out before the gate


class Misalignment:
    """`db`: expected level of the residual echo, dB full scale; -100 for none."""

    def __init__(self, frames: int) -> None:
        """`frames`: samples per block."""
        self._frames = frames
        # A window, since loud low tones must not leak into higher bands with a larger error.
        self.window = np.hanning(2 * frames + 1)[:-1].astype(np.float32)
        self._scale = 2 / (2 * frames * float(self.window @ self.window))  # to a mean square
        self._played = np.zeros(frames + 1, np.float32)  # power of each band, its decaying peak
        self._error = np.zeros(frames + 1, np.float32)
        self.db = -100.0

    def set_error(self, error: Floats) -> None:
        """Set the power of the response's error, float32[n * frames + 1], from 0 Hz up."""
        width = len(error) // self._frames
        edges = np.arange(self._frames + 1) * width - width // 2
        first = np.maximum(edges, 0)
        count = np.diff(np.append(first, len(error)))
        self._error = (np.add.reduceat(error, first) / count).astype(np.float32)

    def process(self, far: Spectrum) -> None:
        """Process a block: the spectrum of the newest 2 * frames samples played, full scale 1, each
        multiplied by `window`."""
        self._played = np.maximum(_DECAY * self._played, power_of(far))
        residual_power = self._error[_LOWEST_BIN:] @ self._played[_LOWEST_BIN:]
        self.db = 10 * math.log10(self._scale * float(residual_power) + 1e-10)
