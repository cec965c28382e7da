"""Forgetting on disk: all that was said, or one turn. Returns only when it is so, checked.

All: the files are set apart under another name, overwritten with zeros where they lie, synced and
unlinked. That needs no room, so a full disk forgets, too; a power cut in between is made up for by
`complete_erase`. One turn: the file is rewritten without it, and read through for its words.

What the model has computed of the turns (think/snapshot_store.py) lies beside the file and goes as
a whole, with either. Who writes it holds the folder's lock, and so does who forgets.
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
from appliance.runtime.memory_files import APART, SNAPSHOT
from appliance.runtime.secure_erase import erase

LOCK_S = 20.0  # for the thinker to let go of the folder: it is told to, and stops after 4 MiB
_REMEDY = "Is the card read-only, or worn out?"
_LEAST_LETTERS = 8  # of a text that is looked for: a shorter one may well be in another turn
_LOOKED_FOR = 32  # bytes of it: a longer text may be spread over several pages


@contextmanager
def _named_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        problem = f"{error.filename or file} cannot be used ({error.strerror})."
        raise StorageError(problem, _REMEDY) from error


def files(file: Path) -> list[Path]:
    """All that this memory has on disk: its file, its logs, damaged ones, those set apart."""
    return sorted(file.parent.glob(f"{file.name}*"))


def forget_all(file: Path, *, within_s: float = LOCK_S) -> None:
    """Erase every turn. No connection of this process may be open. Raises StorageError.

    `within_s`: who writes in its folder is waited for so long.
    """
    with _named_errors(file), locked(file.parent, within_s):
        _forget_all(file)


def _forget_all(file: Path) -> None:
    with _named_errors(file):
        for path in files(file):
            if not path.name.endswith(APART):
                _set_apart(path)
        _erase(files(file))
        _erase(files(file))  # what another connection has made meanwhile


def complete_erase(file: Path) -> None:
    """Erase what was set apart, and not yet erased when the power went. Raises StorageError."""
    with _named_errors(file):
        clear_leftover(file)
        _erase([path for path in files(file) if path.name.endswith(APART)])


def _erase(paths: list[Path]) -> None:
    left = erase(paths)
    if left:
        raise StorageError(
            f"Not all is forgotten: {left[0].path} cannot be erased ({left[0].why}).",
            _REMEDY,
        )


def _unreadable(file: Path) -> list[Path]:
    """Files in which the last turn may be, and that only go as a whole."""
    return [
        path
        for path in files(file)
        if DAMAGED in path.name
        or SNAPSHOT in path.name
        or path.name.endswith(UNCLEARED)
        or path.name.endswith(restore_files.ENDS)
    ]


@dataclass
class LastTurn:
    """The newest turn, once it was read: a second attempt does not take the one before it."""

    turn: RememberedTurn | None = None
    known: bool = False

    def others(self, turns: list[RememberedTurn]) -> list[RememberedTurn]:
        """Those that stay."""
        if not self.known:
            self.known, self.turn = True, turns[-1] if turns else None
        return turns[:-1] if turns and turns[-1] == self.turn else turns


@dataclass
class ChosenTurn:
    """The turn that began then, of that number; `turn` once it was read."""

    started: str
    number: int
    turn: RememberedTurn | None = None

    def others(self, turns: list[RememberedTurn]) -> list[RememberedTurn]:
        """Those that stay."""
        others = []
        for turn in turns:
            if (turn.started, turn.turn) == (self.started, self.number):
                self.turn = turn
            else:
                others.append(turn)
        return others


def forget_last(
    file: Path, keep_turns: int, last: LastTurn | None = None, *, within_s: float = LOCK_S
) -> None:
    """Erase the newest turn, as `forget_turn` does."""
    forget_turn(file, keep_turns, last or LastTurn(), within_s=within_s)


def forget_turn(
    file: Path, keep_turns: int, last: LastTurn | ChosenTurn, *, within_s: float = LOCK_S
) -> None:
    """Erase that turn, if it is there. No connection of this process may be open.

    `last`: also of the attempt before this, which failed. Damaged copies go as a whole: the turn
    may be in one of them. Where there is no room for rewriting, the file is erased first, and the
    other turns are written anew. `within_s`: as for `forget_all`. Raises StorageError.
    """
    with _named_errors(file), locked(file.parent, within_s):
        clear_leftover(file)
        _erase(_unreadable(file))
        if not file.exists():
            return
        try:
            others = _rewritten(file, keep_turns, last)
        except MemoryDamaged:
            _give_up(file, keep_turns)
            return
        _erase(_unreadable(file))
        if last.turn is not None:
            _look_through(file, others, last.turn)


def _rewritten(file: Path, keep_turns: int, last: LastTurn | ChosenTurn) -> list[RememberedTurn]:
    """Without that turn. Returns those that stay. Raises StorageError."""
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
        return Memory(file, keep_turns, alone=True)


def _give_up(file: Path, keep_turns: int) -> None:
    """Erase a damaged file as a whole; raise StorageError, for another attempt, if it is none."""
    try:
        open_memory(file, keep_turns).close()
    except MemoryDamaged:
        _forget_all(file)
        return
    raise StorageError(f"{file} could not be read to its end.", _REMEDY)


def _texts(turn: RememberedTurn) -> tuple[str, ...]:
    return turn.asked, turn.transcript, turn.heard


def _look_through(file: Path, others: list[RememberedTurn], last: RememberedTurn) -> None:
    """Raises StorageError if that turn's words are in a file, though no other turn has them."""
    rest = "\n".join(text for turn in others for text in _texts(turn)).encode()
    for text in _texts(last):
        words = text.encode()[:_LOOKED_FOR]
        if len(text) < _LEAST_LETTERS or words in rest:
            continue
        for path in files(file):
            try:
                found = words in path.read_bytes()
            except FileNotFoundError:
                continue
            if found:
                raise StorageError(f"{path} still has words of the turn that was to be forgotten.")


def _set_apart(path: Path) -> None:
    """So that a cut from here on is no damaged memory but an unfinished forgetting. Where the disk
    does not let it, the file is erased under its own name."""
    number = 0
    while (apart := path.with_name(f"{path.name}.{number}{APART}")).exists():
        number += 1  # one from before is not replaced: its blocks would be freed as they are
    try:
        path.rename(apart)
        sync_folder(path.parent)
    except OSError:
        return
