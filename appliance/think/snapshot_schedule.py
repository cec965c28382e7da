"""When the snapshot for the next start is computed, and when it is written. Pure.

Computed soon, for an orderly stop writes what is computed; written later and seldom, for the card:
once for each time that the conversation rests, and no more than `MOST_AN_HOUR` times an hour.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

PREPARE_S = 20.0  # since the last word. Before that the owner may go on, and transcripts are made
WRITE_S = 300.0  # likewise: who has said nothing for so long has ended the conversation
MOST_AN_HOUR = 4  # of up to 64 MiB each (snapshot_store.py), 20 to 30 with Gemma 4 E2B
_HOUR_S = 3600.0

Step = Literal["nothing", "ask", "prepare", "write"]


class SnapshotSchedule:
    """Of one conversation. All times are seconds of one monotonic clock."""

    def __init__(self, prepare_s: float = PREPARE_S, write_s: float = WRITE_S) -> None:
        self._prepare_s = prepare_s
        self._write_s = write_s
        self._last_s = 0.0
        self._next: Step = "ask"
        self._written_s: deque[float] = deque(maxlen=MOST_AN_HOUR)

    def talked(self, now_s: float) -> None:
        """Something was said, heard or forgotten."""
        self._last_s = now_s
        self._next = "ask"

    def due(self, now_s: float) -> Step:
        """What is to be done now."""
        rests_s = now_s - self._last_s
        if self._next == "write":
            full = len(self._written_s) == MOST_AN_HOUR
            if full and now_s - self._written_s[0] < _HOUR_S:
                return "nothing"
            return "write" if rests_s >= self._write_s else "nothing"
        return self._next if rests_s >= self._prepare_s else "nothing"

    def asked(self) -> None:
        """The memory was asked for the turns."""
        self._next = "nothing"

    def came(self) -> None:
        """They came; unless something was said meanwhile, they are to be read."""
        if self._next == "nothing":
            self._next = "prepare"

    def prepared(self) -> None:
        """All of them are read."""
        self._next = "write"

    def wrote(self, now_s: float, *, anything: bool) -> None:
        """What was read is being written, if it was `anything` new."""
        self._next = "nothing"
        if anything:
            self._written_s.append(now_s)
