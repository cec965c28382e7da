"""What a button held at power-on does: one table of what a reset takes away, and a note to
whoever has the rights to set the box up.

The panel runs without rights. What is the box's own it deletes; for the rest it leaves a word in
the incoming folder, where a unit of the system's finds it (`wanted-setup`: setup or reset).
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from appliance.errors import StorageError
from appliance.release.handed import leave_note
from appliance.release.wanted import INCOMING

WANTED_SETUP = "wanted-setup"
Wish = Literal["setup", "reset"]


@dataclass(frozen=True)
class Row:
    """One thing that a reset takes away.

    how   "forgets": the conductor does, told by a message. "deletes": `paths` below the state's
          folder. "asks": whoever has the rights, if this system has such a part
    """

    what: str
    how: Literal["forgets", "deletes", "asks"]
    paths: tuple[str, ...] = ()


RESET: tuple[Row, ...] = (
    Row("the conversations", "forgets"),
    Row("the owner's voice (`interlude enrol`) and its recordings", "deletes",
        ("verdict-owner.npz", "enrolled")),
    Row("timers and alarms", "deletes", ("timers",)),
    Row("what the room sounds like", "deletes", ("echo.npz",)),
    Row("which broker it was at, and that the owner took it out of Home Assistant", "deletes",
        ("left-at-the-broker.json", "removed-from-home-assistant")),
    Row("settings, Wi-Fi, all passwords, ssh keys, host name, kept warnings", "asks"),
)  # fmt: skip


def clear(state: Path) -> list[str]:
    """Delete what is the box's own. Returns what was there. Raises StorageError at the first thing
    that cannot be deleted."""
    gone = []
    for path in (state / name for row in RESET for name in row.paths):
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StorageError(f"{path}: could not be deleted ({error.strerror}).") from error
        gone.append(path.name)
    return gone


def ask(wish: Wish, incoming: Path = INCOMING) -> bool:
    """Leave the word. False: this system has nobody who would set it up."""
    if not os.access(incoming, os.W_OK):
        return False
    leave_note(incoming / WANTED_SETUP, wish)
    return True
