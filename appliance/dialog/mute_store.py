"""Stores whether the microphone is muted, so that restarts and power cuts do not change it.

It is stored in the state's folder, and in the unit's folder on tmpfs for cards that cannot be
written. An unreadable file means muted; if nothing was ever written, the box is not muted. The
first start writes the file and a mark beside it: a mark without its file means muted, too.
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

FILE = "conductor/mute.json"  # in the state folder, and in the unit's folder on tmpfs
# An empty file beside FILE: that was written to this disk before. Earlier versions kept both in the
# state folder itself. Their mark stays there: FILE must exist also if it could not be moved
# (runtime/part_folders.py), and an earlier version that is tried again then starts muted.
MARK = "mute-was-kept"
STOP_S = 1.0  # limit for the last write when the conductor stops


class _File(msgspec.Struct, frozen=True):
    """Content of the file. `serial`: of two files, the one with the larger serial is newer."""

    version: Literal[1]
    serial: Annotated[int, msgspec.Meta(ge=0, le=2**62)]
    muted: bool


@dataclass(frozen=True)
class StoredMute:
    """The value stored before this start.

    problem  why a file could not be read; then it is muted
    on_disk  the disk has the same value: a power cut does not change it
    """

    muted: bool
    serial: int = 0
    problem: str = ""
    on_disk: bool = True


@dataclass(frozen=True)
class MuteWriteResult:
    """Result of the newest `store`. `problem`: "" if the value is on the disk, where it survives a
    power cut. Otherwise `in_memory` says whether it survives a restart without a power cut."""

    muted: bool
    problem: str = ""
    in_memory: bool = False
    serial: int = 0


MuteNews = StoredMute | MuteWriteResult


def path(settings: Settings) -> Path:
    return settings.state_path() / FILE


def read_file(file: Path) -> StoredMute | None:
    """The value in `file`; None if the file does not exist."""
    found, problem = load_record(file, _File)
    if found is not None:
        return StoredMute(found.muted, found.serial)
    return StoredMute(muted=True, problem=problem) if problem else None


def merge(disk: StoredMute | None, *others: StoredMute | None) -> StoredMute:
    """Combine several files: muted if one is unreadable, or if one of the newest says so."""
    present = [found for found in (disk, *others) if found is not None]
    serial = max((found.serial for found in present), default=0)
    problem = "; ".join(found.problem for found in present if found.problem)
    muted = bool(problem) or any(found.muted for found in present if found.serial == serial)
    on_disk = disk is not None and (disk.serial, disk.muted) == (serial, muted)
    return StoredMute(muted, serial, problem, on_disk=on_disk and not problem)


class MuteStore:
    """Reads the files once in a thread, then writes newer values. Only `stored` and `join` wait.

    `memory`: a folder on tmpfs; None: there is none. `in_memory`: it has the newest value. `read`
    reads a file; on a card that stalls it is slow.
    """

    def __init__(
        self,
        disk: Path,
        memory: Path | None,
        wall_s: Callable[[], float] = time.time,
        read: Callable[[Path], StoredMute | None] = read_file,
    ) -> None:
        self._files = tuple(file for file in (disk, memory and memory / FILE) if file is not None)
        self._mark, self._earlier_mark = disk.with_name(MARK), disk.parent.with_name(MARK)
        self._wall_s = wall_s
        self._read_file = read
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
        news = self._news.pop_all()
        return [n for n in news if isinstance(n, StoredMute) or n.serial == self._serial]

    def stored(self, wait_s: float) -> StoredMute | None:
        """The stored value, if it was read within `wait_s`, else None. It comes as news, too."""
        self._was_read.wait(wait_s)
        return self._found

    def store(self, *, muted: bool) -> None:
        """Write to tmpfs at once and to the disk in the background; the result comes as news."""
        known = self._found.serial if self._found is not None else 0
        # The clock is included because a file that could not be read may hold a larger serial.
        self._serial = max(self._serial + 1, known + 1, int(self._wall_s()))
        data = msgspec.json.encode(_File(1, self._serial, muted))
        self.in_memory = all(_write_memory(file, data) for file in self._files[1:])
        self.in_memory &= len(self._files) > 1
        self._disk.write_later(data)

    def request_stop(self) -> None:
        """Start to write what is pending. Returns at once."""
        self._disk.request_stop()

    def join(self) -> None:
        """After `request_stop`: wait for the write, for at most STOP_S."""
        self._disk.join(STOP_S)

    def _read(self) -> None:
        disk, *others = map(self._read_file, self._files)
        if disk is None and (_mark_exists(self._mark) or _mark_exists(self._earlier_mark)):
            disk = StoredMute(muted=True, problem=f"{self._files[0]} is gone")
        self._found = merge(disk, *others)
        self._was_read.set()
        self._news.put(self._found)
        if disk is not None and not disk.problem:
            _create_mark(self._mark)

    def _written(self, data: bytes, problem: str) -> None:
        record = msgspec.json.decode(data, type=_File)
        if not problem:
            _create_mark(self._mark)
        self._news.put(MuteWriteResult(record.muted, problem, self.in_memory, record.serial))


def _write_memory(file: Path, data: bytes) -> bool:
    """Write to tmpfs, which takes no time that matters. Returns whether that succeeded."""
    try:
        file.parent.mkdir(mode=0o700, exist_ok=True)
        write_whole(file, data, 0o600, lasting=False)
    except OSError:
        return False
    return True


def _mark_exists(mark: Path) -> bool:
    """Whether the mark exists; also true if that cannot be determined."""
    try:
        mark.lstat()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def _create_mark(mark: Path) -> None:
    """Create the mark, unless it exists. If that fails, the next write tries again."""
    if not _mark_exists(mark):
        with suppress(OSError):
            write_whole(mark, b"", 0o600)
