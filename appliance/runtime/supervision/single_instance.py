"""One box at a time keeps its state in a folder, and is one to the sound card and the broker.

The lock is on the folder itself (flock(2)): no file is left behind, and a folder that can only be
read does as well. It goes with the process that holds it, however that ends.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from pathlib import Path

from appliance.errors import AlreadyRunning

WAIT_S = 2.0  # for one that is about to be gone
_LOOK_S = 0.05

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
    end_s = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end_s:
                os.close(fd)
                raise AlreadyRunning(
                    f"Interlude runs with {folder} already.",
                    "Stop that one first, or give this one a `state_dir` of its own.",
                ) from None
            time.sleep(_LOOK_S)
        except OSError as error:
            log.warning("%s cannot be locked (%s)", folder, error.strerror)
            return fd
        else:
            return fd
