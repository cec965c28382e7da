"""`interlude memory show|forget`: what the box remembers, for its owner's eyes."""

from __future__ import annotations

import sys

from appliance.errors import ControlError, NotRunning
from appliance.memory import Damaged, Memory, Turn, damaged_copies, path
from appliance.messages import Forget
from appliance.settings import Settings
from appliance.verbs import tell as control_commands


def cli_show(settings: Settings) -> int:
    """Print every turn, oldest first. Returns the exit code. Raises StorageError."""
    file = path(settings)
    if not file.exists():
        return _say("Nothing is remembered.")
    try:
        memory = Memory(file, settings.memory.keep_turns)
    except Damaged as error:
        raise Damaged(
            error.problem, "Interlude sets it aside and begins a new one when it starts."
        ) from error
    try:
        turns = memory.recall(-1)
    finally:
        memory.close()
    for turn in turns:
        _say(_in_words(turn))
    return _say(f"{_turns(len(turns))}, in {file}." if turns else "Nothing is remembered.")


def cli_forget(settings: Settings) -> int:
    """Delete every turn, set-aside files too, and have a box that runs forget them as well.

    Returns the exit code. Raises StorageError.
    """
    _say(_forget_on_disk(settings))
    try:
        control_commands.send(settings, Forget())
    except NotRunning:
        return 0
    except ControlError as error:
        return _say(f"The box that runs here may still have the talk in mind. {error}")
    return _say("So has the box that runs here forgotten it.")


def _forget_on_disk(settings: Settings) -> str:
    """Returns what there is to say of it."""
    file = path(settings)
    if not file.exists():
        for aside in damaged_copies(file):
            aside.unlink(missing_ok=True)
        return "There was nothing to forget."
    try:
        memory = Memory(file, settings.memory.keep_turns)
    except Damaged:
        for left in (file, *damaged_copies(file)):
            left.unlink(missing_ok=True)
        return "The memory was damaged; it is deleted."
    try:
        count = memory.count()
        memory.forget()
    finally:
        memory.close()
    return f"{_turns(count)} {'is' if count == 1 else 'are'} forgotten."


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


def _in_words(turn: Turn) -> str:
    asked = turn.asked or f"({turn.seconds:.1f} s of speech)"
    cut = "" if turn.complete else " …(cut)"
    return f"{turn.started}\n  owner: {asked}\n  box:   {turn.heard}{cut}"


def _say(line: str) -> int:
    sys.stdout.write(line + "\n")
    return 0
