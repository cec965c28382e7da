"""Which turns are dropped when the history exceeds its budget of tokens. Pure: sizes in, turns out.

Everything behind a dropped turn must be read again, since it had seen that turn. So half of the
budget is freed at once, seldom; and which turns stay is settled while there is room yet, so that
the prompt without the others can be read, a piece at a time, before it is needed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from appliance.think.history import History, HistoryTurn

AHEAD = 4  # the shorter prompt is prepared when a quarter of the budget is left

log = logging.getLogger("thinker")


class HistoryPruning:
    """`budget`: tokens of all turns; beyond `limit`, which is less, the shorter prompt is used.
    `size`: of a history, in tokens."""

    def __init__(self, budget: int, limit: int, size: Callable[[History], int]) -> None:
        self._budget = budget
        self._limit = limit
        self._size = size
        self._first: HistoryTurn | None = None  # of those that stay

    def shorter(self, history: History) -> History | None:
        """The history as it will be; None while there is room enough, or nothing to be dropped."""
        size = self._size(history)
        if size <= self._limit - self._budget // AHEAD:
            self._first = None
            return None
        if self._first is None or self._first not in history.turns:
            self._first = self._choose(history, size)
        other = History()
        other.turns = history.turns[history.turns.index(self._first) :]
        return other if len(other.turns) < len(history.turns) else None

    def due(self, history: History) -> bool:
        """There is no room for another question and its answer."""
        return self._size(history) > self._limit

    def drop(self, history: History, shorter: History) -> None:
        """From now on it is the shorter one."""
        count = len(history.turns)
        history.turns = list(shorter.turns)
        self._first = None
        log.info("forgot the oldest %d of %d turns to make room", count - len(history.turns), count)

    def _choose(self, history: History, size: int) -> HistoryTurn:
        """So that half of the budget is free when its limit is reached: until then it grows."""
        grows = max(0, self._limit - size)
        other = History()
        other.turns = list(history.turns)
        while self._size(other) > self._budget // 2 - grows and other.drop_oldest():
            pass
        return other.turns[0]
