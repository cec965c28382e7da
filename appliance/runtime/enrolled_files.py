"""What is kept of an enrolled voice, in the state's folder: where it lies, since when, and its end.

Imports nothing that reads it: the page shows and deletes what it cannot use.
"""

from __future__ import annotations

import os
from pathlib import Path

from appliance.runtime.secure_erase import EraseFailure, erase

FILE = "verdict-owner.npz"  # 195 numbers and the network's checksum (hear/bargein/adaptation.py)
RECORDINGS = "enrolled"  # a folder of sounds, only where `interlude enrol --keep` was said


def enrolled_at(state: Path) -> float | None:
    """When somebody was enrolled, seconds since 1970; None: nobody is."""
    try:
        return (state / FILE).stat().st_mtime
    except OSError:
        return None


def is_there(state: Path) -> bool:
    """Whether there is anything to be forgotten."""
    return any(os.path.lexists(path) for path in _paths(state))


def forget(state: Path) -> list[EraseFailure]:
    """Erase the correction and the recordings. Returns what is left of them."""
    return erase(_paths(state))


def _paths(state: Path) -> tuple[Path, ...]:
    return state / FILE, state / RECORDINGS
