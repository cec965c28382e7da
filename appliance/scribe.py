"""The scribe writes the memory in a thread of its own: an SD card may take a second to write, and
a verdict cannot wait for that.

In: turns to remember, to recall, to forget. Out, by a bell to poll: what was recalled, and what
there is to say about the memory's health, once each time that it changes.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import StorageError
from appliance.memory import Damaged, Memory, Turn, open_or_begin

MOST_WAITING = 256  # turns; a disk that hangs for so long is broken
STOP_S = 2.0  # for the last writes at an orderly stop


@dataclass(frozen=True)
class Recalled:
    """The last turns, oldest first."""

    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Health:
    """The memory broke or works again. `set_aside`: a new one was begun in its place."""

    well: bool
    text: str
    set_aside: bool = False


News = Recalled | Health


class Scribe:
    """`remember`, `recall` and `forget` return at once; they are carried out in their order."""

    def __init__(self, file: Path, keep_turns: int) -> None:
        self._file = file
        self._keep = keep_turns
        self._memory: Memory | None = None
        self._well = True
        self._hangs = False
        self._orders: queue.Queue[Callable[[Memory], None] | None] = queue.Queue(MOST_WAITING)
        self._news: deque[News] = deque()
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._thread = threading.Thread(target=self._run, name="scribe", daemon=True)
        self._thread.start()

    def fileno(self) -> int:
        """Readable when there is news."""
        return self._bell

    def news(self) -> list[News]:
        try:
            os.eventfd_read(self._bell)
        except BlockingIOError:
            return []
        return [self._news.popleft() for _ in range(len(self._news))]

    def remember(self, turn: Turn) -> None:
        if self._keep:
            self._order(lambda memory: memory.remember(turn))

    def recall(self, count: int) -> None:
        """The answer comes as `Recalled` news, unless there is no memory."""
        if self._keep and count:
            self._order(lambda memory: self._tell(Recalled(tuple(memory.recall(count)))))

    def forget(self, *, last: bool = False) -> None:
        self._order(lambda memory: memory.forget_last() if last else memory.forget())

    def close(self) -> None:
        """Write what waits, for at most `STOP_S`."""
        try:
            self._orders.put(None, timeout=STOP_S)
        except queue.Full:
            return  # the disk hangs; the thread is a daemon and ends with us
        self._thread.join(STOP_S)

    def _order(self, order: Callable[[Memory], None]) -> None:
        try:
            self._orders.put_nowait(order)
        except queue.Full:
            if not self._hangs:
                self._tell(Health(False, "the disk hangs: turns are not remembered"))
            self._hangs = True
        else:
            self._hangs = False

    # ── in the thread ────────────────────────────────────────────────────────────────────────
    def _run(self) -> None:
        if self._keep:
            self._try(lambda memory: None)  # said at the start, not at the first turn
        while (order := self._orders.get()) is not None:
            self._try(order)
        if self._memory is not None:
            self._memory.close()

    def _try(self, order: Callable[[Memory], None]) -> None:
        try:
            try:
                order(self._open())
            except Damaged:
                self._drop()
                order(self._open())
        except StorageError as error:
            self._drop()
            if self._well:
                self._well = False
                self._tell(Health(False, f"nothing is remembered: {error}"))
        else:
            if not self._well:
                self._well = True
                self._tell(Health(True, "turns are remembered again"))

    def _open(self) -> Memory:
        if self._memory is None:
            self._memory, aside = open_or_begin(self._file, self._keep)
            if aside is not None:
                text = f"{self._file} was damaged; it is now {aside.name}, and a new one is begun"
                self._tell(Health(True, text, set_aside=True))
        return self._memory

    def _drop(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _tell(self, news: News) -> None:
        self._news.append(news)
        os.eventfd_write(self._bell, 1)
