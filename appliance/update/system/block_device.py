"""Partitions of the SD card as block devices; each change is one call, for tests of power cuts."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from appliance.errors import StorageError

LABELS = Path("/dev/disk/by-partlabel")  # udev's


class BlockDevice(Protocol):
    """A range of bytes from 0 to `size`. A write survives a power cut only after `flush`."""

    name: str
    size: int

    def read(self, at: int, count: int) -> bytes: ...
    def write(self, at: int, data: bytes) -> None: ...
    def flush(self) -> None: ...


class PartitionedDisk(Protocol):
    """A disk that opens its partitions by name."""

    def part(self, name: str) -> AbstractContextManager[BlockDevice]: ...


class FileBlockDevice:
    """A block device, or a range of an image file. Raises OSError."""

    def __init__(self, fd: int, name: str, begin: int, size: int) -> None:
        self.name, self.size = name, size
        self._fd, self._begin = fd, begin

    def read(self, at: int, count: int) -> bytes:
        """Read `count` bytes from offset `at`, fewer only at the end."""
        count = min(count, self.size - at)
        data = bytearray()
        while len(data) < count:
            chunk = os.pread(self._fd, count - len(data), self._begin + at + len(data))
            if not chunk:
                break
            data += chunk
        return bytes(data)

    def write(self, at: int, data: bytes) -> None:
        if at < 0 or at + len(data) > self.size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.name)
        rest = memoryview(data)
        while rest:
            done = os.pwrite(self._fd, rest, self._begin + at)
            at, rest = at + done, rest[done:]

    def flush(self) -> None:
        """Write all to the card and drop the page cache, so that later reads come from the card."""
        os.fsync(self._fd)
        os.posix_fadvise(self._fd, self._begin, self.size, os.POSIX_FADV_DONTNEED)


class BootDisk:
    """The SD card from which this machine started."""

    def __init__(self, labels: Path = LABELS) -> None:
        self._labels = labels

    @contextmanager
    def part(self, name: str) -> Iterator[BlockDevice]:
        """Raises StorageError for a partition that is missing, mounted, or not writable."""
        path = self._labels / name
        try:  # O_EXCL on a block device: fails if it is mounted, and prevents a mount while open
            fd = os.open(path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC)
        except FileNotFoundError as error:
            problem = f"This card has no partition `{name}`: it was not made from our image."
            raise StorageError(problem, "Systems are updated by apt there.") from error
        except OSError as error:
            problem = f"The partition `{name}` cannot be opened ({error.strerror})."
            raise StorageError(problem, "Unmount it, and be root.") from error
        try:
            yield FileBlockDevice(fd, name, 0, os.lseek(fd, 0, os.SEEK_END))
        finally:
            os.close(fd)


class ImageDisk:
    """A card in an image file. `places`: offset and size of each partition, in bytes."""

    def __init__(self, image: Path, places: dict[str, tuple[int, int]]) -> None:
        self._image, self._places = image, places

    @contextmanager
    def part(self, name: str) -> Iterator[BlockDevice]:
        fd = os.open(self._image, os.O_RDWR | os.O_CLOEXEC)
        try:
            yield FileBlockDevice(fd, name, *self._places[name])
        finally:
            os.close(fd)
