"""Misalignment: the level of the echo that is left because the response is not known well enough.

In: the power of the response's error at each frequency, as the Kalman filter tracks it, and each
block that is played. Out: the level to expect. A chime teaches the filter its few
frequencies alone; only the sum over all that sound tells what it will leave of the voice after it.
"""

from __future__ import annotations

import math

import numpy as np

from appliance.hear.aec.path_estimate import Floats, forward, power_of

_KEPT = np.float32(10**-0.03)  # of a band's power, a block of 5 ms: the room goes on so long
_LOWEST_BIN = 1  # 100 Hz: below it is no voice, and the gate does not hear it


class Misalignment:
    """`db`: of what is expected to be left, dB full scale; -100 for nothing."""

    def __init__(self, frames: int) -> None:
        """`frames` of a block."""
        self._frames = frames
        # Loud low tones must not pass for something in the bands above them, which it knows less.
        self._window = np.hanning(2 * frames + 1)[:-1].astype(np.float32)
        self._scale = 2 / (2 * frames * float(self._window @ self._window))  # to a mean square
        self._played = np.zeros(frames + 1, np.float32)  # power of each band, the loudest lately
        self._error = np.zeros(frames + 1, np.float32)
        self.db = -100.0

    def set_error(self, error: Floats) -> None:
        """The power of the response's error, float32[n * frames + 1], from 0 Hz up."""
        width = len(error) // self._frames
        edges = np.arange(self._frames + 1) * width - width // 2
        first = np.maximum(edges, 0)
        count = np.diff(np.append(first, len(error)))
        self._error = (np.add.reduceat(error, first) / count).astype(np.float32)

    def process(self, far: Floats) -> None:
        """A block: the newest 2 * frames samples that were played, float32, full scale 1."""
        self._played = np.maximum(_KEPT * self._played, power_of(forward(self._window * far)))
        both = self._error[_LOWEST_BIN:] @ self._played[_LOWEST_BIN:]
        self.db = 10 * math.log10(self._scale * float(both) + 1e-10)
