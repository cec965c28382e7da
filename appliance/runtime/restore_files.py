"""The files of a restore of a backup: its archive, its staged and replaced files, and its plan.

Files that may contain words are beside the memory and start with its name, so that forgetting the
memory also erases them (dialog/memory_erase.py). The order of steps makes a restore atomic: after a
power cut at any step the box has either all old files or all new ones.

1. the page leaves the checked archive (`wanted`) and restarts the box
2. at that start, before any part runs, each file is staged beside its target
3. the plan is written: from here on a start after a power cut completes the restore
4. each existing file is renamed to its backup name, each staged one to its target
5. the plan is deleted

The replaced files stay until the next restore, and can be restored in the same way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from appliance.record_file import read_record
from appliance.runtime import enrolled_files, memory_files
from appliance.settings import adjusted

UPLOAD = ".restore-upload"  # after the memory's name: an archive that is still being uploaded
CHECKED = ".restore-checked"  # an archive that was checked, and that the page shows
WANTED = ".restore-wanted"  # an archive that the next start restores
STAGED, BEFORE = ".restore-new", ".before-restore"  # after a file's name
ENDS = (UPLOAD, CHECKED, WANTED, STAGED, BEFORE)
PLAN, REPLACED = "restore-plan.json", "restore-replaced.json"  # in the state's folder
OUTCOME = "restore-outcome.json"  # there too: the result of the last restore
BACK = "page/restore-back"  # a note there: restore the replaced files
# The files of the state folder that a backup contains.
PlaceName = Literal["memory", "timers", "adjusted", "enrolled"]
PLACES: dict[PlaceName, str] = {
    "memory": "memory/memory.db",
    "timers": "timers/timers.json",
    "adjusted": adjusted.FILE,
    "enrolled": enrolled_files.FILE,
}

Move = Literal["put", "take"]  # put: a staged file replaces the target; take: the target is removed


class RestorePlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The moves of a restore, by file of PLACES. `had`: files that existed before."""

    moves: dict[PlaceName, Move]
    had: tuple[PlaceName, ...] = ()


class RestoreOutcome(msgspec.Struct, frozen=True):
    """The result of the last restore. `at_s`: seconds of the wall clock. `moves`: the moves of the
    files; `problem`: why nothing was restored, `key` and `values` the same as a sentence of the
    catalogue (errors.ShownAs). `back`: it restored the files that an earlier restore replaced."""

    at_s: float
    moves: dict[PlaceName, Move] = {}
    back: bool = False
    problem: str = ""
    key: str = ""
    values: dict[str, str | int | float] = {}


def outcome(state: Path) -> RestoreOutcome | None:
    """The result of the last restore; None before the first."""
    return read_record(state / OUTCOME, RestoreOutcome)


def place(state: Path, name: PlaceName) -> Path:
    return state / PLACES[name]


def beside(state: Path, name: PlaceName, end: str) -> Path:
    """Path of the staged or replaced file, in the memory's folder, which only the box may read."""
    memory = state / PLACES["memory"]
    return memory.with_name(f"{memory.name}.{name}{end}")


def archive(state: Path, end: str) -> Path:
    memory = state / PLACES["memory"]
    return memory_files.uploads(memory) / (memory.name + end)


def replaced(state: Path) -> RestorePlan | None:
    """The plan of the last restore; None when it can no longer be undone."""
    found = read_record(state / REPLACED, RestorePlan)
    if found is None:
        return None
    complete = all(beside(state, name, BEFORE).is_file() for name in found.had)
    return found if complete else None
