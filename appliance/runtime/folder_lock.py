"""A lock on a folder: one process at a time writes words there, or erases them.

The lock is on the folder itself (flock(2)): no file is left behind, and the kernel releases it when
the process that holds it ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_RETRY_S = 0.02
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextmanager
def locked(folder: Path, within_s: float) -> Iterator[bool]:
    """Hold the lock. Yields False, without a lock, if there is no such folder.

    Must not be nested, not even in one thread. Raises OSError: TimeoutError if another holder keeps
    the lock for longer than `within_s`.
    """
    try:
        fd = os.open(folder, _FOLDER)
    except FileNotFoundError:
        yield False
        return
    try:
        lock(fd, folder, within_s)
        yield True
    finally:
        os.close(fd)


def lock(fd: int, place: Path, within_s: float) -> None:
    """Lock the folder or file `place`, open as `fd`, until `fd` is closed. Raises OSError:
    TimeoutError if another holder keeps the lock for longer than `within_s`."""
    end_s = time.monotonic() + within_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end_s:
                raise TimeoutError(None, "in use by another program", str(place)) from None
            time.sleep(_RETRY_S)
        else:
            return
