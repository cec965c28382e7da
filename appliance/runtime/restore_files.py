"""Where a restore keeps what it brings and what it replaces, and the plan by which it is made.

All that may hold words lies beside the memory, under its name: forgetting takes it with the memory
(dialog/memory_erase.py). In one order, a power cut anywhere leaves the old or the new:

1. the page leaves the checked archive (`wanted`) and has the box begin anew
2. at that start, before any part runs, each file is staged beside its place
3. the plan is written: from here on the restore is made, and gone on with after a cut
4. each file that was there becomes the one before, each staged one takes its place
5. the plan goes

What was replaced stays until the next restore, and can be brought back in the same way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from appliance.record_file import read_record
from appliance.runtime import enrolled_files

UPLOAD = ".restore-upload"  # after the memory's name: an archive that is still coming
CHECKED = ".restore-checked"  # one that was checked, and is looked at
WANTED = ".restore-wanted"  # one that is to be made so
STAGED, BEFORE = ".restore-new", ".before-restore"  # after a file's name
ENDS = (UPLOAD, CHECKED, WANTED, STAGED, BEFORE)
PLAN, REPLACED = "restore-plan.json", "restore-replaced.json"  # in the state's folder
OUTCOME = "restore-outcome.json"  # likewise: what came of the last one
BACK = "restore-back"  # a note there: bring back what was replaced
# The files of the state's folder that a backup holds.
PlaceName = Literal["memory", "timers", "adjusted", "enrolled"]
PLACES: dict[PlaceName, str] = {
    "memory": "memory/memory.db",
    "timers": "timers/timers.json",
    "adjusted": "adjusted.json",
    "enrolled": enrolled_files.FILE,
}

Move = Literal["put", "take"]  # a staged file takes its place, or what is there goes


class RestorePlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of each file of PLACES that it names. `had`: those that were there before."""

    moves: dict[PlaceName, Move]
    had: tuple[PlaceName, ...] = ()


class RestoreOutcome(msgspec.Struct, frozen=True):
    """What the last restore came to. `at_s`: by the clock on the wall. `moves`: what became of each
    file; `problem`: why nothing was restored, `key` and `values` the same as a sentence of the
    catalogue (errors.ShownAs). `back`: what was there before a restore was brought back."""

    at_s: float
    moves: dict[PlaceName, Move] = {}
    back: bool = False
    problem: str = ""
    key: str = ""
    values: dict[str, str | int | float] = {}


def outcome(state: Path) -> RestoreOutcome | None:
    """Of the last restore; None before the first."""
    return read_record(state / OUTCOME, RestoreOutcome)


def place(state: Path, name: PlaceName) -> Path:
    return state / PLACES[name]


def beside(state: Path, name: PlaceName, end: str) -> Path:
    """The staged file, or the one before: in the memory's folder, which nobody else reads."""
    memory = state / PLACES["memory"]
    return memory.with_name(f"{memory.name}.{name}{end}")


def archive(state: Path, end: str) -> Path:
    memory = state / PLACES["memory"]
    return memory.with_name(memory.name + end)


def replaced(state: Path) -> RestorePlan | None:
    """What the last restore has made, while it can be taken back."""
    found = read_record(state / REPLACED, RestorePlan)
    if found is None:
        return None
    kept = all(beside(state, name, BEFORE).is_file() for name in found.had)
    return found if kept else None
