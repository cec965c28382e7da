"""The times of an answer's phones, and the phone at each 10 ms point of a frame.

In: phones as they become known, each with its token and its length. Out: for a frame of 80 ms, the
phone at each of its eight points, and the point's position within the phone.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
import numpy.typing as npt

FRAME_S, POINT_S, POINTS = 0.08, 0.01, 8
MIDDLE = POINTS // 2
AGE_S = 4.0  # upper limit of the time since the last silence, as the network's input
Floats = npt.NDArray[np.float32]


class Timeline:
    def __init__(self, silence: int) -> None:
        """`silence`: the symbol at which the voice pauses and starts again."""
        self._silence = silence
        self._ends: list[float] = []
        self._starts: list[float] = []
        self._silence_starts: list[float] = []
        self._tokens: list[int] = []

    @property
    def seconds(self) -> float:
        """Total length of the phones so far."""
        return self._ends[-1] if self._ends else 0.0

    def add(self, symbol: int, token: int, seconds: float) -> None:
        start = self.seconds
        silence_start = self._silence_starts[-1] if self._silence_starts else 0.0
        self._starts.append(start)
        self._ends.append(start + seconds)
        self._silence_starts.append(start if symbol == self._silence else silence_start)
        self._tokens.append(token)

    def known(self, frame: int) -> bool:
        """Whether every point of the frame has a phone."""
        return frame * FRAME_S + (POINTS - 0.5) * POINT_S < self.seconds

    def begun(self, frame: int) -> bool:
        """Whether the frame starts before the end of the last phone."""
        return frame * FRAME_S < self.seconds

    def under(self, frame: int) -> tuple[list[int], Floats]:
        """The phone at each point of the frame (after the end: the last one), and positions [8, 5]
        in the units of the network's training: time since the phone's start and until its end in
        eighths of a second, the elapsed share of it, its length in eighths of a second, and the
        time since the last silence in units of AGE_S."""
        times = frame * FRAME_S + (np.arange(POINTS) + 0.5) * POINT_S
        last = len(self._ends) - 1
        phones = [min(bisect_right(self._ends, t), last) for t in times.tolist()]
        start, end, silence_start = (
            np.array([of[p] for p in phones])
            for of in (self._starts, self._ends, self._silence_starts)
        )
        since, left = (times - start).clip(0.0, 1.0), (end - times).clip(0.0, 1.0)
        length = (end - start).clip(0.01)
        part = (since / length).clip(0.0, 1.0)
        age = ((times - silence_start) / AGE_S).clip(0.0, 1.0)
        columns = [since * 8.0, left * 8.0, part, length.clip(None, 1.0) * 8.0, age]
        return phones, np.stack(columns, 1).astype(np.float32)

    def token(self, phone: int) -> int:
        return self._tokens[phone]
