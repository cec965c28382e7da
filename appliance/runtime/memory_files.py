"""Path of the memory on the disk, and names of the files beside it.

The conductor writes and erases the memory. The thinker stores model states of the last turns, and
the page archives of a restore, each in a folder of its own beside it. All use these names, so that
all of it is erased together.
"""

from __future__ import annotations

from pathlib import Path

from appliance.settings import Settings

SNAPSHOT = ".state-"  # and a number: infix in the name of a model state of the last turns
APART = ".forgotten"  # suffix of a file that is being erased
_SNAPSHOTS, _UPLOADS = "states", "uploads"


def path(settings: Settings) -> Path:
    """Path of the memory's file, in a directory that only the box may read."""
    return settings.state_path() / "memory" / "memory.db"


def snapshots(memory: Path) -> Path:
    """The folder of the model's states; its lock (folder_lock.py) is held while words are written
    there or erased."""
    return memory.parent / _SNAPSHOTS


def uploads(memory: Path) -> Path:
    """The folder of the archives of a restore."""
    return memory.parent / _UPLOADS


def all_files(memory: Path) -> list[Path]:
    """All files of this memory: the database, its logs, damaged copies, those being erased, states,
    archives."""
    folders = (memory.parent, snapshots(memory), uploads(memory))
    return sorted(path for folder in folders for path in folder.glob(f"{memory.name}*"))
