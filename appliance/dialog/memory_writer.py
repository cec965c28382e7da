"""Writes the memory in a thread of its own: an SD card may take a second, a verdict cannot wait.

In: orders to remember, recall and forget turns. Out, by a queue to poll: recalled turns, the result
of each order to forget, and the memory's health when it changes. An order to forget that failed is
owed: it is retried, and until it succeeds nothing is recalled or remembered.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from appliance.atomic_file import write_whole
from appliance.dialog import memory_erase
from appliance.dialog.memory import (
    BUSY_S,
    Memory,
    MemoryDamaged,
    RememberedTurn,
    open_or_replace,
)
from appliance.dialog.memory_erase import ChosenTurn, LastTurn
from appliance.errors import StorageError
from appliance.pollable_queue import PollableQueue

MOST_WAITING = 256  # orders in the queue; a disk that is so far behind is broken
MOST_FORGETS = 64  # orders to forget beyond that; further ones fail at once
OWED_EVERY_S = 60.0  # between two attempts at an order to forget that failed
# Name of the note of owed orders. It contains ALL, or how many last turns are to be forgotten and a
# line for each chosen turn (start time, number).
OWED = "conductor/to-be-forgotten"
ALL = "all"
STOP_S = 2.0  # limit for the last writes when the conductor stops
HANGS = "the disk hangs"


@dataclass(frozen=True)
class TurnsRecalled:
    """The last turns, oldest first. `number`: of the order."""

    turns: tuple[RememberedTurn, ...]
    number: int = field(default=0, compare=False)


@dataclass(frozen=True)
class MemoryHealth:
    """The memory failed, or works again. `set_aside`: a new file replaces a damaged one."""

    well: bool
    text: str
    set_aside: bool = False


@dataclass(frozen=True)
class ForgetResult:
    """An order to forget was carried out and verified, or failed with `problem`. `late`: it had
    failed before, and that was reported."""

    number: int
    problem: str = ""
    late: bool = False


class AllTurns:
    """An order to forget all turns."""


Forgettable = LastTurn | ChosenTurn | AllTurns


@dataclass(frozen=True)
class _Order:
    """An entry of the queue: what it `forgets`, or, if that is (), the function `act` to call.

    `recalls`: `act` recalls turns.
    """

    number: int
    act: Callable[[Memory], None] | None = None
    forgets: tuple[Forgettable, ...] = ()
    recalls: bool = False


MemoryNews = TurnsRecalled | MemoryHealth | ForgetResult


class MemoryWriter:
    """`remember`, `recall` and `forget` return at once; the thread carries them out in order."""

    def __init__(
        self, file: Path, keep_turns: int, notes: Path | None = None, busy_s: float = BUSY_S
    ) -> None:
        """`notes`: a folder on tmpfs, where the next conductor finds the note of owed orders.
        `busy_s`: how long a write waits for another process's."""
        self._busy_s = busy_s
        self._file = file
        self._keep = keep_turns
        self._note_path = notes / OWED if notes is not None else None
        self._memory: Memory | None = None
        self._writable = True
        self._hangs = False
        self._newest_order = 0  # its number; they count from 1
        self._skipped_until = 0  # orders up to this one are skipped, since all turns will be erased
        self._newest_forget = 0
        self._owed: _Order | None = None
        self._orders: queue.SimpleQueue[_Order | None] = queue.SimpleQueue()
        self._news: PollableQueue[MemoryNews] = PollableQueue()
        self._thread = threading.Thread(target=self._run, name="memory-writer", daemon=True)
        self._thread.start()

    def fileno(self) -> int:
        """Readable when there is news."""
        return self._news.fileno()

    def pop_news(self) -> list[MemoryNews]:
        return [item for item in self._news.pop_all() if not self._outdated(item)]

    def _outdated(self, item: MemoryNews) -> bool:
        """Whether `item` has turns that were recalled before the newest order to forget."""
        return isinstance(item, TurnsRecalled) and item.number < self._newest_forget

    def remember(self, turn: RememberedTurn) -> None:
        if self._keep:
            self._order(lambda memory: memory.remember(turn))

    def transcribe(self, started: str, turn: int, transcript: str) -> None:
        """Store the transcript of a remembered turn, unless the turn was forgotten meanwhile."""
        if self._keep:
            self._order(lambda memory: memory.transcribe(started, turn, transcript))

    def recall(self, count: int) -> None:
        """The result comes as `TurnsRecalled` news; without a memory it is empty."""
        if not (self._keep and count):
            self._news.put(TurnsRecalled((), self._newest_forget))
        else:
            number = self._newest_order + 1
            self._order(
                lambda memory: self._news.put(TurnsRecalled(tuple(memory.recall(count)), number)),
                recalls=True,
            )

    def forget(self, *, last: bool = False, chosen: tuple[str, int] | None = None) -> int:
        """Forget all turns, the last one, or the `chosen` one. Returns the number of the order,
        which its `ForgetResult` has, too. Such orders are accepted even while the disk hangs. An
        order to forget all turns also discards turns that are still waiting to be written."""
        self._newest_order += 1
        if self._orders.qsize() >= MOST_WAITING + MOST_FORGETS:
            self._news.put(ForgetResult(self._newest_order, f"{HANGS}."))
            return self._newest_order
        self._newest_forget = self._newest_order
        what: Forgettable = ChosenTurn(*chosen) if chosen else LastTurn() if last else AllTurns()
        if isinstance(what, AllTurns):
            self._skipped_until = self._newest_order
        self._orders.put(_Order(self._newest_order, forgets=(what,)))
        return self._newest_order

    def close(self) -> None:
        """Write what is in the queue, for at most `STOP_S`."""
        self._orders.put(None)
        self._thread.join(STOP_S)  # if the disk hangs: the thread is a daemon and ends with us

    def _order(self, act: Callable[[Memory], None], *, recalls: bool = False) -> None:
        if self._orders.qsize() < MOST_WAITING:
            self._hangs = False
            self._newest_order += 1
            self._orders.put(_Order(self._newest_order, act, recalls=recalls))
            return
        if not self._hangs:
            self._news.put(MemoryHealth(False, f"{HANGS}: turns are not remembered"))
        self._hangs = True

    def _run(self) -> None:
        self._start()
        while True:
            try:
                order = self._orders.get(timeout=OWED_EVERY_S if self._owed else None)
            except queue.Empty:
                self._retry_owed()
                continue
            if order is None:
                break
            if order.forgets:
                self._forget(order)
            elif order.act is not None and order.number > self._skipped_until:
                self._retry_owed()
                if self._owed is None:
                    self._try(order.act)
                elif order.recalls:
                    self._news.put(TurnsRecalled((), order.number))
                else:
                    self._try(self._refuse)
        self._close_memory()

    def _start(self) -> None:
        """Finish an erasure that a power cut interrupted, retry owed orders, open the memory."""
        try:
            memory_erase.complete_erase(self._file)
        except StorageError:
            self._note_owed(_Order(0, forgets=(AllTurns(),)))
        if owed := self._read_note():
            self._owed = _Order(0, forgets=owed)
            self._retry_owed()
        if self._keep and self._owed is None:
            self._try(lambda memory: None)  # report a fault now, not at the first turn

    def _forget(self, order: _Order) -> None:
        """Carry out an order to forget, together with the owed ones."""
        owed = self._owed
        if owed is not None:
            order = _Order(order.number, forgets=(*owed.forgets, *order.forgets))
        problem = self._erase(order.forgets)
        self._note_owed(order if problem else None)
        self._news.put(ForgetResult(order.number, problem))

    def _retry_owed(self) -> None:
        if self._owed is not None and not self._erase(self._owed.forgets):
            self._news.put(ForgetResult(self._owed.number, late=True))
            self._note_owed(None)

    def _note_owed(self, order: _Order | None) -> None:
        self._owed = order
        if self._note_path is None:
            return
        with suppress(OSError):
            if order is not None:
                self._note_path.parent.mkdir(mode=0o700, exist_ok=True)
                write_whole(self._note_path, _format_note(order.forgets).encode(), lasting=False)
            else:
                self._note_path.unlink(missing_ok=True)

    def _read_note(self) -> tuple[Forgettable, ...]:
        try:
            noted = self._note_path.read_text() if self._note_path is not None else "0"
        except (OSError, UnicodeDecodeError):
            return ()
        return _parse_note(noted)

    def _erase(self, what: tuple[Forgettable, ...]) -> str:
        """Erase `what`. Returns the problem; "" on success."""
        self._close_memory()
        try:
            if any(isinstance(target, AllTurns) for target in what):
                memory_erase.forget_all(self._file)
            else:
                for target in what:
                    if not isinstance(target, AllTurns):
                        memory_erase.forget_turn(self._file, self._keep, target)
        except StorageError as error:
            return str(error)
        return ""

    def _refuse(self, memory: Memory) -> None:
        raise StorageError("what was to be forgotten is still there.")

    def _try(self, act: Callable[[Memory], None]) -> None:
        try:
            try:
                act(self._open())
            except MemoryDamaged:
                self._close_memory()
                act(self._open())
        except StorageError as error:
            self._close_memory()
            if self._writable:
                self._writable = False
                self._news.put(MemoryHealth(False, f"nothing is remembered: {error}"))
        else:
            if not self._writable:
                self._writable = True
                self._news.put(MemoryHealth(True, "turns are remembered again"))

    def _open(self) -> Memory:
        if self._memory is None:
            self._memory, aside = open_or_replace(self._file, self._keep, busy_s=self._busy_s)
            if aside is not None:
                text = f"{self._file} was damaged; it is now {aside.name}, and a new one was made"
                self._news.put(MemoryHealth(True, text, set_aside=True))
        return self._memory

    def _close_memory(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None


def _format_note(forgets: tuple[Forgettable, ...]) -> str:
    if any(isinstance(target, AllTurns) for target in forgets):
        return ALL
    chosen = [turn for turn in forgets if isinstance(turn, ChosenTurn)]
    lines = [str(len(forgets) - len(chosen)), *(f"{turn.started} {turn.number}" for turn in chosen)]
    return "\n".join(lines)


def _parse_note(noted: str) -> tuple[Forgettable, ...]:
    """Parse a note of owed orders; a malformed one means all turns."""
    first, *lines = noted.split("\n")
    chosen = []
    for line in lines:
        started, _, number = line.rpartition(" ")
        if not number.isdecimal():
            return (AllTurns(),)
        chosen.append(ChosenTurn(started, int(number)))
    if not (first.isdecimal() and int(first) + len(chosen) <= MOST_FORGETS):
        return (AllTurns(),)
    return (*(LastTurn() for _ in range(int(first))), *chosen)
