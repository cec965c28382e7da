"""Atomic writes of small files: whole or not at all, for any reader and at any power cut."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

# NOFOLLOW: no link. NONBLOCK: no waiting for a FIFO's other end, nor for the end of a lease
# (fcntl(2), F_SETLEASE) that the file's owner holds. NOCTTY: no terminal becomes ours.
ONCE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_small(
    path: Path, most_bytes: int, *, links: bool = False, owner: int | None = None
) -> bytes:
    """A regular file whose name may be another user's. Returns at once, whatever lies there.

    Raises OSError: for a link, unless `links` may be followed; for what is no regular file, or not
    the user `owner`'s; EFBIG for more than `most_bytes`.
    """
    fd = os.open(path, ONCE & ~os.O_NOFOLLOW if links else ONCE)
    with os.fdopen(fd, "rb") as file:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        if owner is not None and about.st_uid != owner:
            raise PermissionError(errno.EPERM, "another user's file", str(path))
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


def fresh_name(path: Path) -> Path:
    """Of the file that is written first, and becomes `path` as a whole."""
    return path.with_name(f".{path.name}.new")


def write_whole(path: Path, data: bytes, mode: int = 0o644, *, lasting: bool = True) -> None:
    """Put `data` in the place of what was at `path`, in a folder that exists. Raises OSError, and
    then `path` is as it was.

    `mode`: from the first byte on, whatever the umask says. `lasting`: return when a power cut
    cannot take it back; an SD card may take a second for that, a folder in memory has no need.
    """
    fresh = fresh_name(path)
    try:
        fresh.unlink(missing_ok=True)  # one from before would keep its mode and its owner
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as target:
            os.fchmod(fd, mode)
            target.write(data)
            if lasting:
                target.flush()
                os.fsync(fd)
        fresh.rename(path)
    except OSError:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
    if lasting:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in `folder` survive a power cut. Raises OSError."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
