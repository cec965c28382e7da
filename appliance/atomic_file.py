"""Atomic writes of small files: a reader, or a boot after a power cut, finds the old content or the
new one, never a part.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

# NOFOLLOW: refuse a symlink. NONBLOCK: wait neither for a FIFO's other end nor for a lease
# (fcntl(2), F_SETLEASE) that the file's owner holds. NOCTTY: acquire no controlling terminal.
ONCE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_small(
    path: Path, most_bytes: int, *, links: bool = False, owner: int | None = None
) -> bytes:
    """Read a regular file in a folder that other users may write. Never blocks on what is there.

    Raises OSError: for a symlink, unless `links` allows following it; for anything but a regular
    file; for a file that the user `owner` does not own; EFBIG for more than `most_bytes`.
    """
    fd = os.open(path, ONCE & ~os.O_NOFOLLOW if links else ONCE)
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        if owner is not None and status.st_uid != owner:
            raise PermissionError(errno.EPERM, "another user's file", str(path))
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


def fresh_name(path: Path) -> Path:
    """The name of the temporary file that is written first and then renamed to `path`."""
    return path.with_name(f".{path.name}.new")


def write_whole(path: Path, data: bytes, mode: int = 0o644, *, lasting: bool = True) -> None:
    """Replace the file at `path` by `data`, in a folder that exists. Raises OSError; `path` is
    unchanged then.

    `mode`: of the new file, from its first byte on; the umask does not apply. `lasting`: sync file
    and folder, so that a power cut after the return cannot undo the write; an SD card may take a
    second for that, and a folder in memory does not need it.
    """
    temporary = fresh_name(path)
    try:
        temporary.unlink(missing_ok=True)  # an old one would keep its mode and its owner
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as target:
            os.fchmod(fd, mode)
            target.write(data)
            if lasting:
                target.flush()
                os.fsync(fd)
        temporary.rename(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
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
