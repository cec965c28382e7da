"""Carries out a restore that the page has prepared, before any part of the box runs.

In: the archive or the note that the page has left (runtime/restore_files.py). Out: memory, timers,
run-time settings and enrolment as in the archive, with the replaced files beside them. A power cut
at any step leaves all old files or all new ones. No failure here keeps the box from starting.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import time
from pathlib import Path

import msgspec

from appliance.atomic_file import read_small, sync_folder, write_whole
from appliance.background_file import write_private
from appliance.dialog.memory import UNCLEARED, Memory, RememberedTurn, write_anew
from appliance.errors import InterludeError, ModelError, StorageError
from appliance.page.backup_file import MOST_BYTES, Backup, BackupTimer, BackupTurn, unpack
from appliance.record_file import read_record
from appliance.runtime import enrolled_files, memory_files, restore_files
from appliance.runtime.memory_files import SNAPSHOT
from appliance.runtime.restore_files import (
    BACK,
    BEFORE,
    OUTCOME,
    PLACES,
    PLAN,
    REPLACED,
    STAGED,
    WANTED,
    Move,
    PlaceName,
    RestoreOutcome,
    RestorePlan,
    beside,
    place,
)
from appliance.runtime.secure_erase import erase
from appliance.settings import Settings
from appliance.tools import timer_store
from appliance.tools.timers import Timer

log = logging.getLogger("restore")


def complete_restore(settings: Settings) -> None:
    """Carry out a requested restore, or complete an interrupted one. Never raises."""
    state = settings.state_path()
    back = (state / BACK).exists()
    try:
        plan = read_record(state / PLAN, RestorePlan)
        if plan is None:
            (state / PLAN).unlink(missing_ok=True)  # this program did not write it
            plan = _prepared(state, settings)
        if plan is not None:
            _carry_out(state, plan)
            log.warning("restored: %s", ", ".join(sorted(plan.moves)))
            _note(state, RestoreOutcome(time.time(), plan.moves, back))
    except Exception as error:  # noqa: BLE001  # of any kind: every later start would raise it, too
        problem = _as_interlude_error(error)
        log.error("nothing was restored: %s", problem)
        key, values = problem.on_page
        _note(state, RestoreOutcome(time.time(), {}, back, str(problem)[:500], key, dict(values)))
    _clear(state)


def _as_interlude_error(error: Exception) -> InterludeError:
    """The error as an InterludeError, which has a sentence for the page."""
    if isinstance(error, InterludeError):
        return error
    if isinstance(error, OSError):
        return StorageError(str(error))
    return InterludeError(f"{type(error).__name__}: {error}")


def _note(state: Path, outcome: RestoreOutcome) -> None:
    """Write the outcome for the page. A failed write is ignored: only the page needs it."""
    with contextlib.suppress(OSError):
        write_whole(state / OUTCOME, msgspec.json.encode(outcome), 0o600)


def _prepared(state: Path, settings: Settings) -> RestorePlan | None:
    """Stage the requested files and write the plan; None if nothing was requested."""
    wanted, back = restore_files.archive(state, WANTED), state / BACK
    replaced = restore_files.replaced(state)
    if back.exists() and replaced is not None:
        moves = _stage_former(state, replaced)
    elif wanted.exists():
        backup = unpack(read_small(wanted, MOST_BYTES))
        moves = _stage(state, backup, settings.memory.keep_turns)
    else:
        return None
    existing = tuple(name for name in moves if place(state, name).exists())
    plan = RestorePlan(moves, existing)
    # Files that only an earlier restore replaced: that restore can no longer be undone.
    erase(beside(state, name, BEFORE) for name in PLACES if name not in moves)
    write_whole(state / PLAN, msgspec.json.encode(plan), 0o600)
    return plan


def _stage(state: Path, backup: Backup, keep_turns: int) -> dict[PlaceName, Move]:
    moves: dict[PlaceName, Move] = {}
    _memory_folder(state)
    erase(beside(state, name, STAGED) for name in PLACES)
    if backup.turns is not None and keep_turns:
        write_anew(beside(state, "memory", STAGED), [_turn(t) for t in backup.turns[-keep_turns:]])
        moves["memory"] = "put"
    if backup.timers is not None:
        timers = tuple(_timer(number, timer) for number, timer in enumerate(backup.timers, 1))
        write_whole(beside(state, "timers", STAGED), timer_store.encoded(timers), 0o600)
        moves["timers"] = "put"
    if backup.adjusted is not None:
        data = msgspec.json.encode(backup.adjusted)
        write_whole(beside(state, "adjusted", STAGED), data, 0o600)
        moves["adjusted"] = "put"
    if backup.enrolled is not None and _usable(state, backup.enrolled):
        write_whole(beside(state, "enrolled", STAGED), backup.enrolled, 0o600)
        moves["enrolled"] = "put"
    return moves


def _stage_former(state: Path, replaced: RestorePlan) -> dict[PlaceName, Move]:
    moves: dict[PlaceName, Move] = {}
    for name in replaced.moves:
        staged = beside(state, name, STAGED)
        if name in replaced.had:
            shutil.copyfile(beside(state, name, BEFORE), staged)
            staged.chmod(0o600)
            fd = os.open(staged, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
        moves[name] = "put" if name in replaced.had else "take"
    return moves


def _usable(state: Path, enrolled: bytes) -> bool:
    """Whether the enrolled layer can be loaded; with a damaged one the listener would not start."""
    from appliance.hear.bargein import adaptation  # imports numpy

    folder = state / "restore-trial"
    try:
        write_private(folder / enrolled_files.FILE, enrolled)
        adaptation.load(folder)
    except ModelError as error:
        log.warning("what was enrolled is not restored: %s", error)
        return False
    finally:
        erase([folder])
    return True


def _carry_out(state: Path, plan: RestorePlan) -> None:
    """Carry out the plan. Each step may already have been done before a power cut."""
    for name, move in plan.moves.items():
        target, staged = place(state, name), beside(state, name, STAGED)
        before = beside(state, name, BEFORE)
        if move == "put" and not staged.exists():
            continue  # it was already renamed to its target
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if target.exists():
            if name == "memory":
                _settle_memory(target)
            erase([before])  # replaced by an earlier restore; an undo has staged a copy of it
            target.rename(before)
        elif name not in plan.had:
            erase([before])
        if move == "put":
            staged.rename(target)
        sync_folder(target.parent)
        sync_folder(before.parent)
    write_whole(state / REPLACED, msgspec.json.encode(plan), 0o600)
    (state / PLAN).unlink()
    sync_folder(state)


def _settle_memory(memory: Path) -> None:
    """Write the memory's log into its file, and erase snapshots of turns that are replaced now."""
    try:
        Memory(memory, 1).close()
    except InterludeError as error:  # a damaged memory stays as it is
        log.warning("%s", error)
    suffixes = ("-wal", "-shm", UNCLEARED)
    erase([*(path for path in memory_files.all_files(memory) if SNAPSHOT in path.name), *(
        memory.with_name(memory.name + end) for end in suffixes
    )])  # fmt: skip


def _clear(state: Path) -> None:
    """Erase the restore's temporary files, unless the next start has to complete it."""
    if (state / PLAN).exists():
        return
    suffixes = (WANTED, restore_files.CHECKED, restore_files.UPLOAD)
    files = [*(restore_files.archive(state, end) for end in suffixes), state / BACK]
    erase([*files, *(beside(state, name, STAGED) for name in PLACES)])


def _memory_folder(state: Path) -> None:
    place(state, "memory").parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def _turn(turn: BackupTurn) -> RememberedTurn:
    return RememberedTurn(
        turn.started, turn.turn, turn.asked, turn.seconds, turn.heard, turn.complete, turn.model,
        turn.transcript,
    )  # fmt: skip


def _timer(number: int, timer: BackupTimer) -> Timer:
    return Timer(number, timer.name, timer.length_s, None, timer.due_wall_s)
