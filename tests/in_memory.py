"""A pytest plugin: the temporary files of tests lie in memory where there is room.

Thousands of tests write files, sync and remove them. On a disk they wait for it, most of all beside
each other: half of the time of the pure tier. Debian 13 has /tmp in memory; elsewhere /dev/shm is
taken. The tests of the image stay on the disk: theirs have gigabytes.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psutil
import pytest

from tests.programs import runs_boxes

PLACE = Path("/dev/shm")  # noqa: S108  # in memory, of mode 1777 as /tmp
ROOM = 4 << 30  # bytes that have to be free there; the tests use a tenth at a time
MEMORY = 2 * ROOM  # bytes that have to be available: the room is part of them


def has_room(place: Path, available: int, room: int = ROOM) -> bool:
    """Whether tests can write `room` bytes below `place`, and start programs there. `available`:
    bytes of memory that are."""
    try:
        found = os.statvfs(place)
    except OSError:
        return False
    runs = not found.f_flag & os.ST_NOEXEC and os.access(place, os.W_OK | os.X_OK)
    return runs and found.f_bavail * found.f_frsize >= room and available >= MEMORY


@pytest.hookimpl(tryfirst=True)  # before any plugin or test asks for the temporary folder
def pytest_configure(config: pytest.Config) -> None:
    if "TMPDIR" in os.environ or runs_boxes(config):
        return
    if has_room(PLACE, psutil.virtual_memory().available):
        os.environ["TMPDIR"] = str(PLACE)  # for this process's programs, too
        tempfile.tempdir = None  # found again at the next call
