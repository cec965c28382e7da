"""Sound by sample index, for a while: what the loudspeaker played, and what was heard lately."""

from __future__ import annotations

import numpy as np

from appliance.ipc.ring import Samples


class Tape:
    """A circular memory of `frames` samples. What was never put in, or is too old, is zeros."""

    def __init__(self, frames: int) -> None:
        self._memory = np.zeros(frames, np.int16)
        self._size = frames
        self._end = 0  # the index after the newest sample

    def put(self, index: int, samples: Samples) -> None:
        """Store `samples` from `index` on. A jump of more than its size forgets what was before."""
        if abs(index - self._end) >= self._size:
            self._memory[:] = 0
            self._end = index
        elif index > self._end:
            self._write(self._end, np.zeros(index - self._end, np.int16))
        self._write(index, samples)
        self._end = max(self._end, index + len(samples))

    def take(self, index: int, frames: int) -> Samples:
        """A copy of the int16[frames] from `index` on."""
        out = np.zeros(frames, np.int16)
        first = max(index, self._end - self._size)
        last = min(index + frames, self._end)
        if last > first:
            at = first % self._size
            head = min(last - first, self._size - at)
            out[first - index : first - index + head] = self._memory[at : at + head]
            out[first - index + head : last - index] = self._memory[: last - first - head]
        return out

    def _write(self, index: int, samples: Samples) -> None:
        at = index % self._size
        head = min(len(samples), self._size - at)
        self._memory[at : at + head] = samples[:head]
        self._memory[: len(samples) - head] = samples[head:]
