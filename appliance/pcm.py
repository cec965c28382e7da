"""Sound inside the box: int16, one channel, 16 kHz, in blocks of 5 ms (sound_format.py).

A frame is one sample of each channel, as ALSA counts; inside the box there is one channel, so a
frame is a sample. An index counts frames since the sound card was opened.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from appliance.sound_format import AUDIBLE, BLOCK_FRAMES, FULL_SCALE, RATE_HZ

__all__ = [
    "AUDIBLE", "BLOCK_FRAMES", "EMPTY", "FULL_SCALE", "RATE_HZ", "SampleBuffer", "Samples",
    "from_float", "level_db", "to_float", "to_int16",
]  # fmt: skip

Samples = npt.NDArray[np.int16]  # [frames]
EMPTY: Samples = np.empty(0, np.int16)


def to_int16(wave: npt.NDArray[np.floating]) -> Samples:
    """`wave`, in steps of int16, rounded to the nearest step and clipped to the range of int16."""
    # Faster than np.clip for a block of 5 ms; the listener converts 200 a second.
    limited = np.minimum(np.maximum(np.rint(wave), -FULL_SCALE), FULL_SCALE - 1)
    samples: Samples = limited.astype(np.int16)
    return samples


def from_float(wave: npt.NDArray[np.floating]) -> Samples:
    """`wave`, full scale at ±1.0, as int16."""
    return to_int16(wave * FULL_SCALE)


def to_float(samples: Samples) -> npt.NDArray[np.float32]:
    """The same sound as float32, full scale at ±1.0."""
    return samples.astype(np.float32) / np.float32(FULL_SCALE)


def level_db(wave: npt.NDArray[np.floating], least: float = 1e-10) -> float:
    """Mean power of `wave`, full scale at ±1.0, in dB of full scale. `least`: power that is added,
    so that digital silence and an empty `wave` have a level: -100 dB."""
    power = float(wave.dot(wave)) / len(wave) if len(wave) else 0.0
    return 10 * math.log10(power + least)


class SampleBuffer:
    """The newest `frames` samples by index. Samples never written, or too old, read as zeros."""

    def __init__(self, frames: int) -> None:
        self._memory = np.zeros(frames, np.int16)
        self._size = frames
        self._end = 0  # the index after the newest sample

    def write(self, index: int, samples: Samples) -> None:
        """Store `samples` from `index` on. A jump of `frames` or more erases all samples before."""
        if abs(index - self._end) >= self._size:
            self._memory[:] = 0
            self._end = index
        elif index > self._end:
            self._store(self._end, np.zeros(index - self._end, np.int16))
        self._store(index, samples)
        self._end = max(self._end, index + len(samples))

    def read(self, index: int, frames: int) -> Samples:
        """A copy of `frames` samples from `index` on, int16[frames]."""
        out = np.zeros(frames, np.int16)
        first = max(index, self._end - self._size)
        last = min(index + frames, self._end)
        if last > first:
            at = first % self._size
            head = min(last - first, self._size - at)
            out[first - index : first - index + head] = self._memory[at : at + head]
            out[first - index + head : last - index] = self._memory[: last - first - head]
        return out

    def _store(self, index: int, samples: Samples) -> None:
        at = index % self._size
        head = min(len(samples), self._size - at)
        self._memory[at : at + head] = samples[:head]
        self._memory[: len(samples) - head] = samples[head:]
