"""Erasing files: their content is overwritten in place with zeros and synced, then they are
unlinked. What was in them is then gone from the raw device, as far as the file system goes.

Holds on file systems that overwrite in place: ext4 as it is mounted by default. Not on those that
copy on write, and not inside a card's own controller, which may keep what was replaced.
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
_DEEPEST = 64  # folders in one another; the box makes three


@dataclass(frozen=True)
class EraseFailure:
    """What could not be erased, and why. A file that could not be overwritten keeps its name, so
    that it can be tried again: once it is unlinked, nobody finds its blocks any more."""

    path: Path
    why: str


def erase(paths: Iterable[Path]) -> list[EraseFailure]:
    """Erase files, and folders with all that is in them. Goes on past whatever fails; returns
    what is left. What is not there needs no erasing. Links are unlinked and never followed, but for
    the folders above a path, which are the caller's."""
    left: list[EraseFailure] = []
    for path in paths:
        try:
            above = os.open(path.parent, _FOLDER)
        except FileNotFoundError:
            continue
        except OSError as error:
            left.append(EraseFailure(path, error.strerror or str(error)))
            continue
        try:
            _erase(above, path, left)
        finally:
            os.close(above)
    return left


def overwrite(fd: int, begin: int = 0) -> None:
    """Zeros from byte `begin` to the end, on the device when it returns. Raises OSError."""
    end = os.fstat(fd).st_size
    for first, behind in _data(fd, begin, end):  # a hole has no words, and filling it needs room
        at = first
        while at < behind:
            at += os.pwrite(fd, _ZEROS[: behind - at], at)
    os.fsync(fd)


def replace(path: Path, data: bytes, mode: int) -> None:
    """As `write_whole`; what was at `path` is overwritten once the new is there. Raises OSError."""
    try:
        old = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        old = None  # nothing was there, or nothing that holds our words
    try:
        write_whole(path, data, mode)
        if old is not None:
            overwrite(old)
    finally:
        if old is not None:
            os.close(old)


def _data(fd: int, begin: int, end: int) -> list[tuple[int, int]]:
    """The stretches between holes."""
    found = []
    at = begin
    while at < end:
        try:
            first = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole is left
                break
            raise
        at = os.lseek(fd, first, os.SEEK_HOLE)
        found.append((first, at))
    return found


def _erase(above: int, path: Path, left: list[EraseFailure], depth: int = 0) -> None:
    """What has the last name of `path` in the open folder `above`; the rest of `path` is for words
    alone. Each folder is entered by descriptor: whoever may write it and exchanges it for a link
    meanwhile sends nobody elsewhere."""
    try:
        mode = os.stat(path.name, dir_fd=above, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            if depth == _DEEPEST:  # each level holds a descriptor
                raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
            before = len(left)
            fd = os.open(path.name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
            try:
                for name in sorted(os.listdir(fd)):  # noqa: PTH208  # by descriptor
                    _erase(fd, path / name, left, depth + 1)
            finally:
                os.close(fd)
            if len(left) > before:
                return  # what is in it is named; it cannot go either
            os.rmdir(path.name, dir_fd=above)
        else:
            if stat.S_ISREG(mode):
                _overwrite(above, path.name)
            os.unlink(path.name, dir_fd=above)
        os.fsync(above)
    except FileNotFoundError:
        return
    except OSError as error:
        left.append(EraseFailure(path, error.strerror or str(error)))


def _overwrite(above: int, name: str) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=above)
    try:
        overwrite(fd)
    finally:
        os.close(fd)
