"""One box at a time keeps its state in a folder, and is one to the sound card and the broker.

The lock is on the folder itself (flock(2)): no file is left behind, and a folder that can only be
read does as well. It goes with the process that holds it, however that ends.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from appliance.errors import AlreadyRunning
from appliance.runtime.folder_lock import lock

WAIT_S = 2.0  # for one that is about to be gone

log = logging.getLogger("supervisor")


def lock_instance(folder: Path, wait_s: float = WAIT_S) -> int:
    """Be the one box of that folder. Returns the descriptor that holds the lock, or -1 where none
    can be had. Raises AlreadyRunning when there is another."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        log.warning("%s: not known whether another box runs here (%s)", folder, error.strerror)
        return -1
    try:
        lock(fd, folder, wait_s)
    except TimeoutError:
        os.close(fd)
        raise AlreadyRunning(
            f"Interlude runs with {folder} already.",
            "Stop that one first, or give this one a `state_dir` of its own.",
        ) from None
    except OSError as error:
        log.warning("%s cannot be locked (%s)", folder, error.strerror)
    return fd
