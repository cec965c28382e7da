"""`interlude memory show|forget`: prints or erases the remembered turns."""

from __future__ import annotations

import sys

from appliance.cli import tell
from appliance.dialog import memory_erase
from appliance.dialog.memory import Memory, MemoryDamaged, RememberedTurn
from appliance.errors import ControlError, NotRunning, StorageError
from appliance.runtime.memory_files import all_files, path
from appliance.settings import Settings


def cli_show(settings: Settings) -> int:
    """Print every turn, oldest first. Returns the exit code. Raises StorageError."""
    file = path(settings)
    if not file.exists():
        return _print_line("Nothing is remembered.")
    try:
        memory = Memory(file, settings.memory.keep_turns)
    except MemoryDamaged as error:
        raise MemoryDamaged(
            error.problem, "Interlude sets it aside and begins a new one when it starts."
        ) from error
    try:
        turns = memory.recall(-1)
    finally:
        memory.close()
    for turn in turns:
        _print_line(_in_words(turn))
    return _print_line(f"{_turns(len(turns))}, in {file}." if turns else "Nothing is remembered.")


def cli_forget(settings: Settings) -> int:
    """Erase every turn: the running box does it, or, if none runs, this process does it on disk.

    Prints the result when all is erased. Returns the exit code. Raises StorageError, ControlError.
    """
    try:
        reply = tell.forget_conversation(settings)
    except NotRunning:
        return _print_line(_forget_on_disk(settings))
    except ControlError as error:
        problem = f"The running box did not confirm that it has forgotten. {error.problem}"
        remedy = "Try again; if that does not help, stop the box and try once more."
        raise ControlError(problem, error.remedy or remedy) from error
    if reply.problem:
        raise StorageError(reply.problem)
    return _print_line("The box that runs here has forgotten all that was said.")


def _forget_on_disk(settings: Settings) -> str:
    """Erase the memory's files. Returns a sentence about the result."""
    file = path(settings)
    if not all_files(file):
        return "There was nothing to forget."
    try:
        memory = Memory(file, settings.memory.keep_turns)
        count = memory.count()
        memory.close()
        result = f"{_turns(count)} {'is' if count == 1 else 'are'} forgotten."
    except MemoryDamaged:
        result = "The memory was damaged; it is deleted."
    except StorageError:  # a full disk, or a file of another version: it is erased all the same
        result = "All that was said is forgotten."
    memory_erase.forget_all(file)
    return result


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


def _in_words(turn: RememberedTurn) -> str:
    transcript = f"{turn.transcript} (as the model heard it)" if turn.transcript else ""
    speech = f"({turn.seconds:.1f} s of speech)"
    question = " ".join(filter(None, (transcript, turn.asked))) or speech
    mark = "" if turn.complete else " …(cut)"
    return f"{turn.started}\n  owner: {question}\n  box:   {turn.heard}{mark}"


def _print_line(line: str) -> int:
    sys.stdout.write(line + "\n")
    return 0
