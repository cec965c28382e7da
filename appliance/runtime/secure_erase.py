"""Erases files: overwrites their content in place with zeros, syncs and unlinks them. The file
system then has no copy of the content on the block device.

This holds on file systems that overwrite in place, such as ext4 with its default mount options. It
does not hold with copy-on-write, nor inside an SD card, whose controller may keep replaced blocks.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from appliance.atomic_file import write_whole

_ZEROS = bytes(1 << 18)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_DEEPEST = 64  # nested folders; the box makes three levels


@dataclass(frozen=True)
class EraseFailure:
    """What could not be erased, and why. A file that could not be overwritten is not unlinked, so
    that a retry can find it: the blocks of an unlinked file can no longer be reached."""

    path: Path
    why: str


def erase(paths: Iterable[Path]) -> list[EraseFailure]:
    """Erase files, and folders recursively. Continues after failures, and returns what is left.
    Missing paths are skipped. Symlinks are unlinked and never followed, except in the parent
    folders of a path, for which the caller is responsible."""
    left: list[EraseFailure] = []
    for path in paths:
        try:
            parent_fd = os.open(path.parent, _FOLDER)
        except FileNotFoundError:
            continue
        except OSError as error:
            left.append(EraseFailure(path, error.strerror or str(error)))
            continue
        try:
            _erase(parent_fd, path, left)
        finally:
            os.close(parent_fd)
    return left


def overwrite(fd: int, begin: int = 0) -> None:
    """Write and sync zeros from byte `begin` to the end of the file. Raises OSError."""
    end = os.fstat(fd).st_size
    for first, last in _data(fd, begin, end):  # a hole has no content, and filling it needs space
        at = first
        while at < last:
            at += os.pwrite(fd, _ZEROS[: last - at], at)
    os.fsync(fd)


def replace(path: Path, data: bytes, mode: int) -> None:
    """As `write_whole`, then overwrite the content of the replaced file. Raises OSError."""
    try:
        old = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        old = None  # there is no file, or not a regular one
    try:
        write_whole(path, data, mode)
        if old is not None:
            overwrite(old)
    finally:
        if old is not None:
            os.close(old)


def _data(fd: int, begin: int, end: int) -> list[tuple[int, int]]:
    """The (start, end) ranges of the file between holes."""
    found = []
    at = begin
    while at < end:
        try:
            first = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole is left
                break
            raise
        at = os.lseek(fd, first, os.SEEK_HOLE)
        found.append((first, at))
    return found


def _erase(parent_fd: int, path: Path, left: list[EraseFailure], depth: int = 0) -> None:
    """Erase the entry `path.name` of the open folder `parent_fd`; the rest of `path` is only for
    messages. Folders are opened by descriptor, so that a user who replaces one by a symlink
    meanwhile cannot redirect the erasing."""
    try:
        mode = os.stat(path.name, dir_fd=parent_fd, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            if depth == _DEEPEST:  # each level keeps a descriptor open
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
            before = len(left)
            fd = os.open(path.name, _FOLDER | os.O_NOFOLLOW, dir_fd=parent_fd)
            try:
                for name in sorted(os.listdir(fd)):  # noqa: PTH208  # by descriptor
                    _erase(fd, path / name, left, depth + 1)
            finally:
                os.close(fd)
            if len(left) > before:
                return  # its entries are in `left`; it cannot be removed
            os.rmdir(path.name, dir_fd=parent_fd)
        else:
            if stat.S_ISREG(mode):
                _overwrite(parent_fd, path.name)
            os.unlink(path.name, dir_fd=parent_fd)
        os.fsync(parent_fd)
    except FileNotFoundError:
        return
    except OSError as error:
        left.append(EraseFailure(path, error.strerror or str(error)))


def _overwrite(parent_fd: int, name: str) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent_fd)
    try:
        overwrite(fd)
    finally:
        os.close(fd)
