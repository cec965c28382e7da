"""Schedules when the snapshot for the next start is computed and when it is written. Pure.

It is computed early, since an orderly stop writes what is computed. It is written later and rarely,
to limit the SD card's wear: once per pause of the conversation, at most `MOST_AN_HOUR` an hour.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

PREPARE_S = 20.0  # after the last word; until then the owner may continue and transcripts are made
WRITE_S = 300.0  # after the last word; the conversation is then taken to be over
MOST_AN_HOUR = 4  # of up to 64 MiB each (state_file.py); 20 to 30 MiB with Gemma 4 E2B
_HOUR_S = 3600.0

Step = Literal["nothing", "ask", "prepare", "write"]


class SnapshotSchedule:
    """The schedule of one conversation. All times are seconds of one monotonic clock."""

    def __init__(self, prepare_s: float = PREPARE_S, write_s: float = WRITE_S) -> None:
        self._prepare_s = prepare_s
        self._write_s = write_s
        self._last_s = 0.0
        self._next: Step = "ask"
        self._written_s: deque[float] = deque(maxlen=MOST_AN_HOUR)

    def restart(self, now_s: float) -> None:
        """Restart the schedule after something was said, heard or forgotten."""
        self._last_s = now_s
        self._next = "ask"

    def due(self, now_s: float) -> Step:
        """Return the step to do now."""
        rests_s = now_s - self._last_s
        if self._next == "write":
            full = len(self._written_s) == MOST_AN_HOUR
            if full and now_s - self._written_s[0] < _HOUR_S:
                return "nothing"
            return "write" if rests_s >= self._write_s else "nothing"
        return self._next if rests_s >= self._prepare_s else "nothing"

    def mark_requested(self) -> None:
        """Record that the turns were requested from the memory."""
        self._next = "nothing"

    def mark_received(self) -> None:
        """Record that the turns arrived; if nothing was said meanwhile, preparing is next."""
        if self._next == "nothing":
            self._next = "prepare"

    def mark_prepared(self) -> None:
        """Record that all turns are prefilled."""
        self._next = "write"

    def mark_written(self, now_s: float, *, anything: bool) -> None:
        """Record that the snapshot is being written; `anything`: there was a new one to write."""
        self._next = "nothing"
        if anything:
            self._written_s.append(now_s)
