"""High-pass filters for blocks of sound: one matrix product a block, no loop over samples."""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_BUTTERWORTH_Q = {2: (0.7071,), 4: (0.5412, 1.3066)}  # of each second-order section


class HighPass:
    """A Butterworth high-pass of order 2 or 4 over blocks of `frames` samples.

    An IIR filter over a block is linear in (input, state), so one matrix product applies it.
    `channels` filters run side by side.
    """

    def __init__(
        self, corner_hz: float, *, order: int, rate_hz: int, frames: int, channels: int = 1
    ) -> None:
        self._frames = frames
        self._order = order
        self._matrix = _block_matrix(corner_hz, order, rate_hz, frames)
        self._in = np.zeros((frames + order, channels))

    def __call__(self, samples: Floats) -> Floats:
        """Filter the next block, float64[frames, channels], into an array of the same shape."""
        self._in[: self._frames] = samples
        out: Floats = np.dot(self._matrix, self._in)
        self._in[self._frames :] = out[self._frames :]
        return out[: self._frames]


@functools.cache
def _block_matrix(corner_hz: float, order: int, rate_hz: int, frames: int) -> Floats:
    """[y; state after] = matrix @ [x; state before], found by filtering the unit vectors.
    Computed once per process: an enrolment creates a pipeline for each recording."""
    signal = np.eye(frames, frames + order)
    states = []
    for section, q in enumerate(_BUTTERWORTH_Q[order]):
        first, second = np.eye(frames + order)[frames + 2 * section : frames + 2 * section + 2]
        (b0, b1, b2), (a1, a2) = _section(corner_hz, q, rate_hz)
        for i in range(frames):  # transposed direct form II
            x = signal[i].copy()
            y = b0 * x + first
            first, second = b1 * x - a1 * y + second, b2 * x - a2 * y
            signal[i] = y
        states += [first, second]
    matrix = np.concatenate([signal, states])
    matrix.flags.writeable = False  # all filters of one corner share it
    return matrix


def _section(
    corner_hz: float, q: float, rate_hz: int
) -> tuple[tuple[float, float, float], tuple[float, float]]:
    """A high-pass biquad by the bilinear transform (R. Bristow-Johnson's cookbook)."""
    w = 2 * math.pi * corner_hz / rate_hz
    alpha = math.sin(w) / (2 * q)
    a0 = 1 + alpha
    b = (1 + math.cos(w)) / 2 / a0
    return (b, -2 * b, b), (-2 * math.cos(w) / a0, (1 - alpha) / a0)
