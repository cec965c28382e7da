"""Chooses the turns to drop when the history exceeds its token budget. Pure: sizes in, turns out.

Everything after a dropped turn must be evaluated again, because its state depends on that turn. So
half of the budget is freed at once, and pruning is rare. The turns to keep are chosen before the
budget is full, so that the shorter prompt can be prefilled in pieces before it is needed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from appliance.think.history import History, HistoryTurn

AHEAD = 4  # the shorter prompt is prepared when a quarter of the budget is left

log = logging.getLogger("thinker")


class HistoryPruning:
    """Prunes one history. `budget`: maximum tokens of all turns. Above `limit`, which is lower, the
    shorter prompt is used. `size` returns the tokens of a history."""

    def __init__(self, budget: int, limit: int, size: Callable[[History], int]) -> None:
        self._budget = budget
        self._limit = limit
        self._size = size
        self._first_kept: HistoryTurn | None = None  # first turn to keep

    def shorter(self, history: History) -> History | None:
        """Return the pruned history; None while there is enough room or nothing to drop."""
        size = self._size(history)
        if size <= self._limit - self._budget // AHEAD:
            self._first_kept = None
            return None
        if self._first_kept is None or self._first_kept not in history.turns:
            self._first_kept = self._choose(history, size)
        other = History()
        other.turns = history.turns[history.turns.index(self._first_kept) :]
        return other if len(other.turns) < len(history.turns) else None

    def due(self, history: History) -> bool:
        """Whether there is no room for another question and its answer."""
        return self._size(history) > self._limit

    def drop(self, history: History, shorter: History) -> None:
        """Replace the turns of `history` by those of `shorter`."""
        count = len(history.turns)
        history.turns = list(shorter.turns)
        self._first_kept = None
        log.info("forgot the oldest %d of %d turns to make room", count - len(history.turns), count)

    def _choose(self, history: History, size: int) -> HistoryTurn:
        """Return the first turn to keep, so that half of the budget is free when the history, which
        still grows, reaches the limit."""
        grows = max(0, self._limit - size)
        other = History()
        other.turns = list(history.turns)
        while self._size(other) > self._budget // 2 - grows and other.drop_oldest():
            pass
        return other.turns[0]
