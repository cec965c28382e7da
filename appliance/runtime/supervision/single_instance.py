"""Ensures that one box at a time uses a state folder, and with it the sound card and the broker.

The lock is on the folder itself (flock(2)): no file is left behind, and a read-only folder can be
locked, too. The kernel releases it when the process ends.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from appliance.errors import AlreadyRunning
from appliance.runtime.folder_lock import lock

WAIT_S = 2.0  # for an instance that is about to end

log = logging.getLogger("supervisor")


def lock_instance(folder: Path, wait_s: float = WAIT_S) -> int:
    """Lock the state folder. Returns the descriptor that holds the lock, or -1 where the folder
    cannot be opened. Raises AlreadyRunning when another instance holds the lock."""
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
