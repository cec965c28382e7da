"""The factory reset: the table of what it removes, and the erasing of the box's own files.

A note file in the state folder says that a reset is under way. The owner's request writes it; it
says "done" after everything was erased, and is deleted when the box announces that. A reset that a
power cut, a full card or a stall interrupts continues at the next start, before any part runs. If
the card cannot be written, the note is in the unit's folder in memory, where it survives a restart.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from appliance.atomic_file import sync_folder
from appliance.background_file import write_private
from appliance.runtime import broker_certificate, status
from appliance.runtime.secure_erase import EraseFailure, erase

NOTE = "panel/reset-under-way"
DONE = "done"  # content of the note from the end of the erasing until the box has announced it
log = logging.getLogger("reset")


@dataclass(frozen=True)
class ResetRow:
    """One item that a reset removes.

    how   "erases": the box erases `paths` below the state folder. "asks": the box requests it from
          the unit that has the rights, if this system has one
    """

    what: str
    how: Literal["erases", "asks"]
    paths: tuple[str, ...] = ()


RESET: tuple[ResetRow, ...] = (
    ResetRow("the conversations, and what the model has computed of them", "erases", ("memory",)),
    ResetRow(
        "the owner's voice (`interlude enrol`) and its recordings",
        "erases",
        ("enrolled",),
    ),
    ResetRow("timers and alarms", "erases", ("timers",)),
    ResetRow("what the model has computed of its persona", "erases", ("openings",)),
    ResetRow("what was made of the model's audio encoder", "erases", ("audio-encoder",)),
    ResetRow("what the room sounds like", "erases", ("listener/echo.npz",)),
    ResetRow(
        "which broker it was at, its certificate, and that the owner took it out of Home Assistant",
        "erases",
        (
            "link/left-at-the-broker.json",
            "link/removed-from-home-assistant",
            broker_certificate.FILE,
        ),
    ),
    ResetRow(
        "a restore that is under way",
        "erases",
        ("restore-plan.json", "restore-replaced.json", "page/restore-back", "restore-outcome.json"),
    ),
    ResetRow("which browsers the page has let in", "erases", ("page/page-access.json",)),
    ResetRow(
        "mode, volume and voice as they were set while it ran",
        "erases",
        ("conductor/adjusted.json",),
    ),
    ResetRow(
        "the settings that were last in use, and what was said of releases",
        "erases",
        ("settings-before.yaml", "conductor/told-of-releases"),
    ),
    ResetRow(
        "what commands left in the box's home",
        "erases",
        (".local/state/interlude", ".config/interlude"),
    ),
    ResetRow(
        "settings, Wi-Fi, all passwords, ssh keys, host name, the request for a model, "
        "the address of a fleet's releases, kept warnings",
        "asks",
    ),
)


def clear(state: Path) -> list[EraseFailure]:
    """Erase all paths of the table; a failure does not end the loop. Returns what is left."""
    return erase(state / name for row in RESET for name in row.paths)


def request_reset(state: Path) -> None:
    """Write the note that requests a reset. Raises OSError.

    The file is empty, so that it needs no free block on a full disk.
    """
    _write_note(state, b"")


def complete_reset(state: Path) -> None:
    """Carry out a reset that is under way, before any part of the box runs. Never raises: a box
    that cannot be reset still runs, and reports it."""
    if (note := _read_note(state)) is None or note == DONE:
        return
    left = clear(state)
    for failure in left:
        log.error("reset: %s is left: %s", failure.path, failure.why)
    if not left:
        log.warning("reset: everything of the owner's on this box is erased")
    try:
        _write_note(state, _note_text(left).encode())
    except OSError as error:
        log.error("reset: its note cannot be written (%s)", error.strerror)


def unfinished(state: Path) -> bool:
    """Whether a reset was started and not all files could be erased."""
    return _read_note(state) not in (None, DONE)


def to_say(state: Path) -> str:
    """Catalogue key of the sentence that the box speaks about a reset once it has a voice; "" for
    none. The end of a reset is returned once: this deletes the note."""
    note = _read_note(state)
    if note is None:
        return ""
    if note != DONE:
        return "reset-incomplete"
    try:
        for place in _places(state):
            place.unlink(missing_ok=True)
        sync_folder((state / NOTE).parent)
    except OSError as error:
        log.warning("reset: its note cannot be deleted (%s)", error.strerror)
    return "reset-done"


def _places(state: Path) -> list[Path]:
    """Where the note may be: in memory, if the last write to the card failed, or on the card."""
    memory = status.folder()
    return [folder / NOTE for folder in (memory, state) if folder is not None]


def _write_note(state: Path, data: bytes) -> None:
    *memory, disk = _places(state)
    try:
        write_private(disk, data)
    except OSError:
        if not memory:
            raise
        write_private(memory[0], data)
    else:
        for place in memory:
            place.unlink(missing_ok=True)


def _read_note(state: Path) -> str | None:
    for place in _places(state):
        with suppress(OSError, UnicodeDecodeError):
            return place.read_text(encoding="utf-8")
    return None


def _note_text(left: list[EraseFailure]) -> str:
    return "\n".join(f"{failure.path}: {failure.why}" for failure in left) or DONE
