"""The phones of an answer in time, and what is under each 10 ms of a frame.

In: phones as they become known, each with its token and its length. Out: for a frame of 80 ms,
which phone is at each of its eight points, and how far into it.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
import numpy.typing as npt

FRAME_S, POINT_S, POINTS = 0.08, 0.01, 8
MIDDLE = POINTS // 2
AGE_S = 4.0  # since the voice began anew: counted so far
Floats = npt.NDArray[np.float32]


class Timeline:
    def __init__(self, silence: int) -> None:
        """`silence`: the symbol where the voice begins anew."""
        self._silence = silence
        self._ends: list[float] = []
        self._starts: list[float] = []
        self._breaths: list[float] = []
        self._tokens: list[int] = []

    @property
    def seconds(self) -> float:
        """So much is known."""
        return self._ends[-1] if self._ends else 0.0

    def add(self, symbol: int, token: int, seconds: float) -> None:
        start = self.seconds
        breath = self._breaths[-1] if self._breaths else 0.0
        self._starts.append(start)
        self._ends.append(start + seconds)
        self._breaths.append(start if symbol == self._silence else breath)
        self._tokens.append(token)

    def known(self, frame: int) -> bool:
        """Whether there is a phone under every point of it."""
        return frame * FRAME_S + (POINTS - 0.5) * POINT_S < self.seconds

    def begun(self, frame: int) -> bool:
        """Whether there is anything of it."""
        return frame * FRAME_S < self.seconds

    def under(self, frame: int) -> tuple[list[int], Floats]:
        """Phones under its points, the last one's behind the end; positions [8, 5] as the network
        learnt them: eighths of a second since and to the phone's borders, the part of it that is
        over, its length, and how long ago the voice began anew."""
        times = frame * FRAME_S + (np.arange(POINTS) + 0.5) * POINT_S
        last = len(self._ends) - 1
        phones = [min(bisect_right(self._ends, t), last) for t in times.tolist()]
        start, end, breath = (
            np.array([of[p] for p in phones]) for of in (self._starts, self._ends, self._breaths)
        )
        since, left = (times - start).clip(0.0, 1.0), (end - times).clip(0.0, 1.0)
        whole = (end - start).clip(0.01)
        part = (since / whole).clip(0.0, 1.0)
        age = ((times - breath) / AGE_S).clip(0.0, 1.0)
        columns = [since * 8.0, left * 8.0, part, whole.clip(None, 1.0) * 8.0, age]
        return phones, np.stack(columns, 1).astype(np.float32)

    def token(self, phone: int) -> int:
        return self._tokens[phone]
