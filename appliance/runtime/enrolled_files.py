"""The files of an enrolled voice in the state folder: paths, time of the enrolment, erasing.

Imports no code that reads them: the page only shows and deletes them.
"""

from __future__ import annotations

import os
from pathlib import Path

from appliance.runtime.secure_erase import EraseFailure, erase

FILE = "verdict-owner.npz"  # 195 numbers and the network's checksum (hear/bargein/adaptation.py)
RECORDINGS = "enrolled"  # a folder of recordings, only after `interlude enrol --keep`


def enrolled_at(state: Path) -> float | None:
    """Time of the enrolment, in seconds since 1970; None: there is none."""
    try:
        return (state / FILE).stat().st_mtime
    except OSError:
        return None


def is_there(state: Path) -> bool:
    """Whether any of the files exists."""
    return any(os.path.lexists(path) for path in _paths(state))


def forget(state: Path) -> list[EraseFailure]:
    """Erase the adaptation and the recordings. Returns what could not be erased."""
    return erase(_paths(state))


def _paths(state: Path) -> tuple[Path, ...]:
    return state / FILE, state / RECORDINGS
