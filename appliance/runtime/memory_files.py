"""Path of the memory on the disk, and names of the files beside it.

The conductor writes and erases the memory; the thinker stores model states of the last turns beside
it. Both use these names, so that all of it is erased together.
"""

from __future__ import annotations

from pathlib import Path

from appliance.settings import Settings

SNAPSHOT = ".state-"  # and a number: infix in the name of a model state of the last turns
APART = ".forgotten"  # suffix of a file that is being erased


def path(settings: Settings) -> Path:
    """Path of the memory's file, in a directory that only the box may read."""
    return settings.state_path() / "memory" / "memory.db"
