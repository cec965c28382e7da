"""A file lock that allows one installation at a time; the kernel frees it when its process ends.

The lock is on a file, not on its folder: /usr/lib/interlude/fallback.py, which may be older than
the release, locks the same file before it changes anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from appliance.errors import InstallDeferred, ShownAs
from appliance.runtime.folder_lock import lock


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock on the file `path`. Raises InstallDeferred if another process holds it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            lock(fd, path, 0.0)
        except TimeoutError as error:
            raise InstallDeferred(
                "Another installation is under way.",
                "Wait for it to end.",
                shown=ShownAs.of("page-software-busy"),
            ) from error
        yield
    finally:
        os.close(fd)
