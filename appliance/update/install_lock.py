"""One installation at a time: a lock that ends with its process."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from appliance.errors import InstallDeferred


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock in the file `path`. Raises InstallDeferred when another process has it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise InstallDeferred(
            "Another installation is under way.", "Wait for it to end."
        ) from error
    finally:
        os.close(fd)
