"""Replays a log of writes to a disk, to get its possible contents after a power cut at any moment.

In: the log of QEMU's `blklogwrites`, in the format of the kernel's dm-log-writes
(linux/drivers/md/dm-log-writes.c): a super block, then for each request its offset, length, flags
and data. Out: the contents of the disk, one after the other, in one file.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = 4096  # block size of ext4 and page size: the smallest unit of a write
MAGIC = 0x6A736677736872
_SUPER, _ENTRY = struct.Struct("<QQQI"), struct.Struct("<QQQQ")
_FLUSH, _AT_ONCE, _DISCARD = 1, 2, 4


@dataclass(frozen=True)
class Request:
    """One write, or a flush without data.

    at        offset on the disk in bytes
    flush     all earlier writes are durable once it completes
    at_once   so is this write (FUA)
    """

    at: int
    data: bytes
    flush: bool = False
    at_once: bool = False


def read(log: Path) -> list[Request]:
    """The requests in their order. Raises ValueError for another format and for a discard."""
    raw = log.read_bytes()
    magic, _version, count, sector = _SUPER.unpack_from(raw)
    if magic != MAGIC:
        raise ValueError(f"{log} is no log of writes")
    found, place = [], sector
    for _ in range(count):
        begin, sectors, kind, _length = _ENTRY.unpack_from(raw, place)
        place += sector
        if kind & _DISCARD:
            raise ValueError(f"{log}: something was discarded, which is not replayed here")
        data = raw[place : place + sectors * sector]
        place += len(data)
        found.append(Request(begin * sector, data, bool(kind & _FLUSH), bool(kind & _AT_ONCE)))
    return found


@dataclass
class Disk:
    """The disk in `file`, at first as it was before the first request; `take` applies the next."""

    file: Path
    _unsafe: list[tuple[Request, bytes]] = field(default_factory=list)  # with the overwritten data

    def take(self, request: Request) -> None:
        """Apply the request to the file."""
        if request.flush:
            self._unsafe.clear()
        if not request.data:
            return
        with self.file.open("r+b") as file:
            before = _read(file.fileno(), request)
            _write(file.fileno(), request.at, request.data)
        if not request.at_once:
            self._unsafe.append((request, before))

    def lossy(self, chance: random.Random) -> Iterator[None]:
        """Take back a random half of the writes that no flush has made durable; restore them after.

        The loss is by blocks of the file system's size, in any order, as in a card with a volatile
        write cache. The file has the lossy content until the generator is resumed.
        """
        with self.file.open("r+b") as file:
            for request, before in reversed(self._unsafe):
                _write(file.fileno(), request.at, before)
            for request, _ in self._unsafe:
                for i in range(0, len(request.data), BLOCK):
                    if chance.random() < 0.5:
                        _write(file.fileno(), request.at + i, request.data[i : i + BLOCK])
        yield
        with self.file.open("r+b") as file:
            for request, _before in self._unsafe:
                _write(file.fileno(), request.at, request.data)

    @property
    def at_risk(self) -> int:
        """The number of requests that a power cut could lose now."""
        return len(self._unsafe)


def _read(fd: int, request: Request) -> bytes:
    found = os.pread(fd, len(request.data), request.at)
    return found + bytes(len(request.data) - len(found))


def _write(fd: int, at: int, data: bytes) -> None:
    os.pwrite(fd, data, at)
