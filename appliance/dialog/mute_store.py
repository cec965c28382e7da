"""Whether the microphone is muted, where a restart and a power cut leave it.

It is kept in the state's folder, and in the unit's folder in memory for cards that cannot be
written. What cannot be read means muted; where nothing was ever written, the box is not. From the
first start on there is a file, and a mark beside it that says so: one that is gone means muted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from appliance.atomic_file import write_whole
from appliance.background_file import BackgroundFileWriter, write_private
from appliance.pollable_queue import PollableQueue
from appliance.record_file import load_record
from appliance.runtime import status
from appliance.settings import Settings

FILE = "mute.json"
MARK = "mute-was-kept"  # an empty file: FILE was on this disk
STOP_S = 1.0  # for the last write at an orderly stop


class _File(msgspec.Struct, frozen=True):
    """`serial`: of two files the one with the larger was written later."""

    version: Literal[1]
    serial: Annotated[int, msgspec.Meta(ge=0, le=2**62)]
    muted: bool


@dataclass(frozen=True)
class StoredMute:
    """What was kept before this start.

    problem  what could not be read; then it is muted
    on_disk  the disk says the same: a power cut does not change it
    """

    muted: bool
    serial: int = 0
    problem: str = ""
    on_disk: bool = True


@dataclass(frozen=True)
class MuteWriteResult:
    """What became of the newest `store`. `problem`: "" if it is on the disk; then no power cut and
    no restart changes it. Else `in_memory` says whether a restart without a power cut keeps it."""

    muted: bool
    problem: str = ""
    in_memory: bool = False
    serial: int = 0


MuteNews = StoredMute | MuteWriteResult


def path(settings: Settings) -> Path:
    return settings.state_path() / FILE


def read_file(file: Path) -> StoredMute | None:
    """What `file` says; None if it is not there."""
    found, problem = load_record(file, _File)
    if found is not None:
        return StoredMute(found.muted, found.serial)
    return StoredMute(muted=True, problem=problem) if problem else None


def merge(disk: StoredMute | None, *others: StoredMute | None) -> StoredMute:
    """Of several files: muted if one cannot be read, or if one of the newest says so."""
    here = [found for found in (disk, *others) if found is not None]
    serial = max((found.serial for found in here), default=0)
    problem = "; ".join(found.problem for found in here if found.problem)
    muted = bool(problem) or any(found.muted for found in here if found.serial == serial)
    on_disk = disk is not None and (disk.serial, disk.muted) == (serial, muted)
    return StoredMute(muted, serial, problem, on_disk=on_disk and not problem)


class MuteStore:
    """Reads once, in a thread, then keeps the newest. Nothing here waits for a disk.

    `memory`: a folder that lasts as long as the machine is on; None: there is none.
    `in_memory`: what was kept last is there. `look` reads a file; on a card that stalls it is slow.
    """

    def __init__(
        self,
        disk: Path,
        memory: Path | None,
        wall_s: Callable[[], float] = time.time,
        look: Callable[[Path], StoredMute | None] = read_file,
    ) -> None:
        self._places = tuple(file for file in (disk, memory and memory / FILE) if file is not None)
        self._mark = disk.with_name(MARK)
        self._wall_s = wall_s
        self._look = look
        self._serial = 0
        self.in_memory = False
        self._found: StoredMute | None = None
        self._was_read = threading.Event()
        self._news: PollableQueue[MuteNews] = PollableQueue()
        self._disk = BackgroundFileWriter(
            FILE, partial(write_private, disk), self._written, first=self._read
        )

    @classmethod
    def of(cls, settings: Settings) -> MuteStore:
        return cls(path(settings), status.folder())

    def fileno(self) -> int:
        """Readable when there is news."""
        return self._news.fileno()

    def pop_news(self) -> list[MuteNews]:
        every = self._news.pop_all()
        return [n for n in every if isinstance(n, StoredMute) or n.serial == self._serial]

    def stored(self, wait_s: float) -> StoredMute | None:
        """What was kept, if that is known within `wait_s`. It comes as news, too."""
        self._was_read.wait(wait_s)
        return self._found

    def store(self, *, muted: bool) -> None:
        """In memory at once, on the disk as soon as it can be; that comes as news."""
        known = self._found.serial if self._found is not None else 0
        # The clock counts in where a file that could not be read may hold a larger serial.
        self._serial = max(self._serial + 1, known + 1, int(self._wall_s()))
        data = msgspec.json.encode(_File(1, self._serial, muted))
        self.in_memory = all(_stored(file, data) for file in self._places[1:])
        self.in_memory &= len(self._places) > 1
        self._disk.write_later(data)

    def request_stop(self) -> None:
        """Write what waits. Returns at once."""
        self._disk.request_stop()

    def join(self) -> None:
        """After `request_stop`: wait for that, for at most STOP_S."""
        self._disk.join(STOP_S)

    def _read(self) -> None:
        disk, *others = map(self._look, self._places)
        if disk is None and _there(self._mark):
            disk = StoredMute(muted=True, problem=f"{self._places[0]} is gone")
        self._found = merge(disk, *others)
        self._was_read.set()
        self._news.put(self._found)
        if disk is not None and not disk.problem:
            _leave(self._mark)

    def _written(self, data: bytes, problem: str) -> None:
        kept = msgspec.json.decode(data, type=_File)
        if not problem:
            _leave(self._mark)
        self._news.put(MuteWriteResult(kept.muted, problem, self.in_memory, kept.serial))


def _stored(file: Path, data: bytes) -> bool:
    """Written to a folder in memory, which takes no time that matters."""
    try:
        write_whole(file, data, 0o600, lasting=False)
    except OSError:
        return False
    return True


def _there(mark: Path) -> bool:
    """Also where that cannot be told."""
    try:
        mark.lstat()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def _leave(mark: Path) -> None:
    """Once. Where the disk takes it not, it is tried again after the next write."""
    if not _there(mark):
        with suppress(OSError):
            write_whole(mark, b"", 0o600)
