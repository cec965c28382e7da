"""A FIFO of samples: chunks of any length in, chunks of the requested length out."""

from __future__ import annotations

from collections import deque

import numpy as np

from appliance.pcm import Samples


class WaitingSound:
    """`frames`: the number of buffered samples."""

    def __init__(self) -> None:
        self._chunks: deque[Samples] = deque()
        self.frames = 0

    def append(self, samples: Samples) -> None:
        if len(samples):
            self._chunks.append(samples)
            self.frames += len(samples)

    def clear(self) -> None:
        self._chunks.clear()
        self.frames = 0

    def cut(self, limit: int) -> Samples:
        """Remove and return the next samples, at most `limit`. There must be at least one."""
        parts: list[Samples] = []
        missing = limit
        while missing and self._chunks:
            head = self._chunks.popleft()
            parts.append(head[:missing])
            if len(head) > missing:
                self._chunks.appendleft(head[missing:])
            missing -= len(parts[-1])
        samples = parts[0] if len(parts) == 1 else np.concatenate(parts)
        self.frames -= len(samples)
        return samples
