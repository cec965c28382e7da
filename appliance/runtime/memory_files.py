"""Where the memory lies on the disk, and the names of what lies beside it.

The dialogue writes and erases the memory, and the thinker keeps beside it what it has computed of
the last turns: both hold to these names, so that all of it is erased together.
"""

from __future__ import annotations

from pathlib import Path

from appliance.settings import Settings

SNAPSHOT = ".state-"  # and a number, in the name of what a model has computed of the last turns
APART = ".forgotten"  # added to the name of what is being erased


def path(settings: Settings) -> Path:
    """Where the memory of these settings lies, in a directory that nobody else reads."""
    return settings.state_path() / "memory" / "memory.db"
