"""A window of the newest rows of a stream as one contiguous array, without a copy at each push."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T", bound=np.generic)


class SlidingWindow(Generic[T]):
    """`rows`: the newest `count`, oldest first; zeros before the first. A view, valid until `push`.

    The window slides through memory for `spare` more rows, and is copied back only at its end.
    """

    def __init__(self, empty: npt.NDArray[T], spare: int) -> None:
        """`empty`: the initial window of zeros, (count, ...)."""
        self._count = len(empty)
        self._memory = np.concatenate([empty, np.zeros((spare, *empty.shape[1:]), empty.dtype)])
        self._end = self._count
        self.rows = self._memory[: self._count]

    def push(self, rows: npt.NDArray[T]) -> None:
        """Append rows, (n, ...) with n at most `spare`, and drop as many of the oldest."""
        if self._end + len(rows) > len(self._memory):
            self._memory[: self._count] = self.rows
            self._end = self._count
        self._memory[self._end : self._end + len(rows)] = rows
        self._end += len(rows)
        self.rows = self._memory[self._end - self._count : self._end]
