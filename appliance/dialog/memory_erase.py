"""Erases the memory on disk: all turns, or one. Each function verifies the result and then returns.

All turns: the files are renamed, overwritten with zeros in place, synced and unlinked. That needs
no free space, so it works on a full disk; after a power cut `complete_erase` finishes it. One turn:
the file is rewritten without it, then searched for its words.

The model's snapshot of the turns (think/snapshot_store.py) is in a folder below and is erased
completely in both cases. Writing the snapshot and erasing both hold that folder's lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from appliance.atomic_file import sync_folder
from appliance.dialog.memory import (
    DAMAGED,
    UNCLEARED,
    Memory,
    MemoryDamaged,
    RememberedTurn,
    clear_leftover,
    open_memory,
    write_anew,
)
from appliance.errors import StorageError
from appliance.runtime import restore_files
from appliance.runtime.folder_lock import locked
from appliance.runtime.memory_files import APART, SNAPSHOT, all_files, snapshots
from appliance.runtime.secure_erase import erase

LOCK_S = 20.0  # for the thinker to release the lock: on request it stops writing after 4 MiB
_REMEDY = "Is the card read-only, or worn out?"
_MIN_SEARCH_LENGTH = 8  # of a text to search for: a shorter one may also be part of another turn
_SEARCH_BYTES = 32  # first bytes of it: a longer text may be spread over several pages


@contextmanager
def _named_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        problem = f"{error.filename or file} cannot be used ({error.strerror})."
        raise StorageError(problem, _REMEDY) from error


def forget_all(file: Path, *, within_s: float = LOCK_S) -> None:
    """Erase every turn. No connection of this process may be open. Raises StorageError.

    `within_s`: how long to wait for the folder's lock.
    """
    with _named_errors(file), locked(snapshots(file), within_s):
        _forget_all(file)


def _forget_all(file: Path) -> None:
    with _named_errors(file):
        for path in all_files(file):
            if not path.name.endswith(APART):
                _rename_for_erasing(path)
        _erase(all_files(file))
        _erase(all_files(file))  # files that another connection has created meanwhile


def complete_erase(file: Path) -> None:
    """Finish an erasure that a power cut interrupted. Raises StorageError."""
    with _named_errors(file):
        clear_leftover(file)
        _erase([path for path in all_files(file) if path.name.endswith(APART)])


def _erase(paths: list[Path]) -> None:
    left = erase(paths)
    if left:
        raise StorageError(
            f"Not all is forgotten: {left[0].path} cannot be erased ({left[0].why}).",
            _REMEDY,
        )


def _files_to_erase(file: Path) -> list[Path]:
    """Files that may contain the turn and can only be erased completely."""
    return [
        path
        for path in all_files(file)
        if DAMAGED in path.name
        or SNAPSHOT in path.name
        or path.name.endswith(UNCLEARED)
        or path.name.endswith(restore_files.ENDS)
    ]


@dataclass
class LastTurn:
    """The newest turn. It is read once, so that a retry does not erase the turn before it."""

    turn: RememberedTurn | None = None
    known: bool = False

    def others(self, turns: list[RememberedTurn]) -> list[RememberedTurn]:
        """Return the turns that stay."""
        if not self.known:
            self.known, self.turn = True, turns[-1] if turns else None
        return turns[:-1] if turns and turns[-1] == self.turn else turns


@dataclass
class ChosenTurn:
    """The turn with this start time and number; `turn` is set once it was read."""

    started: str
    number: int
    turn: RememberedTurn | None = None

    def others(self, turns: list[RememberedTurn]) -> list[RememberedTurn]:
        """Return the turns that stay."""
        others = []
        for turn in turns:
            if (turn.started, turn.turn) == (self.started, self.number):
                self.turn = turn
            else:
                others.append(turn)
        return others


def forget_turn(
    file: Path, keep_turns: int, last: LastTurn | ChosenTurn, *, within_s: float = LOCK_S
) -> None:
    """Erase one turn, if it is there. No connection of this process may be open.

    `last`: in a retry the same object as before. Damaged copies are erased completely: the turn may
    be in one of them. Without free space for rewriting, the file is erased first, and the other
    turns are written to a new one. `within_s`: as for `forget_all`. Raises StorageError.
    """
    with _named_errors(file), locked(snapshots(file), within_s):
        clear_leftover(file)
        _erase(_files_to_erase(file))
        if not file.exists():
            return
        try:
            others = _rewrite_without(file, keep_turns, last)
        except MemoryDamaged:
            _erase_if_damaged(file, keep_turns)
            return
        _erase(_files_to_erase(file))
        if last.turn is not None:
            _verify_erased(file, others, last.turn)


def _rewrite_without(
    file: Path, keep_turns: int, last: LastTurn | ChosenTurn
) -> list[RememberedTurn]:
    """Rewrite the file without the turn. Returns the turns that stay. Raises StorageError."""
    memory = _open(file, keep_turns)
    try:
        others = last.others(memory.recall(-1))
        if last.turn is None:
            return others
        try:
            memory.rewrite(others)
        except MemoryDamaged:
            raise
        except StorageError:
            memory.close()
            _forget_all(file)
            write_anew(file, others)
    finally:
        memory.close()
    return others


def _open(file: Path, keep_turns: int) -> Memory:
    try:
        return open_memory(file, keep_turns)
    except MemoryDamaged:
        raise
    except StorageError:
        return Memory(file, keep_turns, exclusive=True)


def _erase_if_damaged(file: Path, keep_turns: int) -> None:
    """Erase a damaged file completely. Raises StorageError, for a retry, if it is not damaged."""
    try:
        open_memory(file, keep_turns).close()
    except MemoryDamaged:
        _forget_all(file)
        return
    raise StorageError(f"{file} could not be read to its end.", _REMEDY)


def _texts(turn: RememberedTurn) -> tuple[str, ...]:
    return turn.asked, turn.transcript, turn.heard


def _verify_erased(file: Path, others: list[RememberedTurn], erased: RememberedTurn) -> None:
    """Raises StorageError if a file still has words of the turn that no other turn contains."""
    remaining = "\n".join(text for turn in others for text in _texts(turn)).encode()
    for text in _texts(erased):
        words = text.encode()[:_SEARCH_BYTES]
        if len(text) < _MIN_SEARCH_LENGTH or words in remaining:
            continue
        for path in all_files(file):
            try:
                found = words in path.read_bytes()
            except FileNotFoundError:
                continue
            if found:
                raise StorageError(f"{path} still has words of the turn that was to be forgotten.")


def _rename_for_erasing(path: Path) -> None:
    """Rename a file for erasing: after a power cut it counts as an unfinished erasure, not as a
    damaged memory. If the disk refuses, the file is erased under its own name."""
    number = 0
    while (renamed := path.with_name(f"{path.name}.{number}{APART}")).exists():
        number += 1  # replacing an earlier one would free its blocks before they are erased
    try:
        path.rename(renamed)
        sync_folder(path.parent)
    except OSError:
        return
