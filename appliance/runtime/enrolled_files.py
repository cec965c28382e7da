"""The files of an enrolled voice in the state folder: paths, time of the enrolment, erasing.

Imports no code that reads them: the page only shows and deletes them.
"""

from __future__ import annotations

from pathlib import Path

from appliance.runtime.secure_erase import EraseFailure, erase

FOLDER = "enrolled"  # with folders of recordings, only after `interlude enrol --keep`
# 195 numbers and the network's checksum (hear/bargein/adaptation.py)
FILE = f"{FOLDER}/verdict-owner.npz"


def enrolled_at(state: Path) -> float | None:
    """Time of the enrolment, in seconds since 1970; None: there is none."""
    try:
        return (state / FILE).stat().st_mtime
    except OSError:
        return None


def is_there(state: Path) -> bool:
    """Whether any of the files exists."""
    return bool(_paths(state))


def forget(state: Path) -> list[EraseFailure]:
    """Erase the adaptation and the recordings. Returns what could not be erased."""
    return erase(_paths(state))


def _paths(state: Path) -> list[Path]:
    """What the folder contains. The folder itself stays: the parts that may write there may not
    remove it, nor write into one that replaces it (runtime/landlock.py)."""
    return sorted((state / FOLDER).glob("*"))
