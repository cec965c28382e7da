"""Opens a file for writing in a folder that other users may write, too.

A member of the folder's group may have laid a symlink, a FIFO or a file of its own under the name.
The kernel's fs.protected_symlinks does not help: it covers only folders that everyone may write.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_new(path: Path) -> BinaryIO:
    """Create the file. Raises OSError if anything has that name."""
    return os.fdopen(_open(path, os.O_EXCL), "wb")


def open_own(path: Path) -> BinaryIO:
    """Open the file for appending, or create it. Raises OSError unless it is a regular file of this
    user without another name."""
    fd = _open(path, os.O_APPEND)
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_nlink != 1:
        os.close(fd)
        raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    return os.fdopen(fd, "ab")


def _open(path: Path, flag: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.open(path, flags | flag, 0o666)
