"""Writes the newest content of a small file in a thread of its own.

An SD card may stall for seconds, and the conversation does not wait for it. Older contents that are
not yet written are dropped.

In: contents, as often as one likes. Out: what became of each that was written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from appliance.atomic_file import write_whole

RETRY_S = 60.0  # after a failure, if nothing newer came: a card may recover


class BackgroundFileWriter:
    """`write_later` returns at once. A content that was replaced before its turn is never written.

    told    is called in the thread with each content that was written and "", or what was wrong
    first   is called in the thread before the first write
    gap_s   between two writes; the first after a quiet time is not delayed
    """

    def __init__(
        self,
        file: Path,
        told: Callable[[bytes, str], None],
        *,
        first: Callable[[], None] | None = None,
        gap_s: float = 0.0,
    ) -> None:
        self._file = file
        self._told = told
        self._first = first
        self._gap_s = gap_s
        self._change = threading.Condition()
        self._wanted: bytes | None = None
        self._tried: bytes | None = None  # the newest that was written, or that failed
        self._failed = False
        self._ending = False
        self._thread = threading.Thread(target=self._run, name=file.name, daemon=True)
        self._thread.start()

    def write_later(self, data: bytes) -> None:
        """Have it written, also if it is what was written last."""
        with self._change:
            self._wanted, self._tried = data, None
            self._change.notify()

    def request_stop(self) -> None:
        """Write what waits now, and end. Returns at once."""
        with self._change:
            self._ending = True
            self._change.notify()

    def join(self, limit_s: float) -> None:
        """After `request_stop`: wait for the last write, but no longer than `limit_s`."""
        self._thread.join(limit_s)

    def _run(self) -> None:
        if self._first is not None:
            self._first()
        while (data := self._next()) is not None:
            problem = self._write(data)
            with self._change:
                self._failed = bool(problem)
                if self._wanted is data:
                    self._tried = data
            self._told(data, problem)
            with self._change:
                self._change.wait_for(lambda: self._ending, self._gap_s)

    def _next(self) -> bytes | None:
        """What is to be written; None at the end."""
        with self._change:
            wait_s = RETRY_S if self._failed else None
            came = self._change.wait_for(lambda: self._ending or self._due, wait_s)
            if self._due or not came:
                return self._wanted
            return None

    @property
    def _due(self) -> bool:
        return self._wanted is not None and self._tried is not self._wanted

    def _write(self, data: bytes) -> str:
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._file, data, 0o600)
        except OSError as error:
            return error.strerror or type(error).__name__
        return ""
