"""Writes the newest content of a small file in a thread of its own.

An SD card may stall for seconds, and neither conductor nor listener may wait for it. A content that
is not yet written is dropped when a newer one arrives.

In: contents, at any rate. Out: the result of each write.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from appliance.atomic_file import write_whole
from appliance.errors import StorageError

T = TypeVar("T")

RETRY_S = 60.0  # after a failed write, if no newer content came: a card may recover


def write_private(file: Path, data: bytes) -> None:
    """Write `file` atomically with mode 0600; make its folder (mode 0700) if there is none. Raises
    OSError."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(file, data, 0o600)


class BackgroundFileWriter(Generic[T]):
    """Writes in a thread; `write_later` returns at once. Only the newest content is written.

    name    of the thread
    write   the thread calls it with the newest content; may raise OSError
    report  the thread calls it after each write with the content and "", or with the problem
    first   the thread calls it before the first write
    gap_s   minimum pause between two writes; a write after a longer pause is not delayed
    """

    def __init__(
        self,
        name: str,
        write: Callable[[T], None],
        report: Callable[[T, str], None],
        *,
        first: Callable[[], None] | None = None,
        gap_s: float = 0.0,
    ) -> None:
        self._write = write
        self._report = report
        self._first = first
        self._gap_s = gap_s
        self._change = threading.Condition()
        self._pending: T | None = None
        self._attempted: T | None = None  # the last content that was written, or whose write failed
        self._failed = False
        self._ending = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def write_later(self, content: T) -> None:
        """Write `content` soon, even if it equals the content that was written last."""
        with self._change:
            self._pending, self._attempted = content, None
            self._change.notify()

    def request_stop(self) -> None:
        """Have the thread write the pending content and end. Returns at once."""
        with self._change:
            self._ending = True
            self._change.notify()

    def join(self, limit_s: float) -> None:
        """After `request_stop`: wait for the last write, for at most `limit_s`."""
        self._thread.join(limit_s)

    def _run(self) -> None:
        if self._first is not None:
            self._first()
        while (content := self._next()) is not None:
            problem = self._attempt(content)
            with self._change:
                self._failed = bool(problem)
                if self._pending is content:
                    self._attempted = content
            self._report(content, problem)
            with self._change:
                self._change.wait_for(lambda: self._ending, self._gap_s)

    def _next(self) -> T | None:
        """Wait for the next content to write; None when the thread is to end."""
        with self._change:
            wait_s = RETRY_S if self._failed else None
            notified = self._change.wait_for(lambda: self._ending or self._due, wait_s)
            if self._due or not notified:
                return self._pending
            return None

    @property
    def _due(self) -> bool:
        return self._pending is not None and self._attempted is not self._pending

    def _attempt(self, content: T) -> str:
        try:
            self._write(content)
        except StorageError as error:
            return str(error)
        except OSError as error:
            return error.strerror or type(error).__name__
        return ""
