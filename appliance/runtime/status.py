"""How the box stands, in a file that anybody may read: /run/interlude/status.json.

The supervisor writes it at every change; the update's health check, `interlude status` and the
fleet's table read it. It lies in memory and is gone with the box.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

import msgspec

from appliance import __version__
from appliance.atomic_file import write_whole
from appliance.record_file import read_record

FOLDER = Path("/run/interlude")  # the unit's RuntimeDirectory=
NAME = "status.json"

log = logging.getLogger("status")


class SupervisorStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One reading.

    version  of the code that runs, whatever is installed
    pid      of the supervisor; systemd calls it MainPID
    state    of the conversation; "starting" until the conductor has said one
    ready    every part that has not failed does its work
    reading  the start goes on while the model reads what stands before the first question
    healthy  every needed part is well: up, or to be up soon
    shed     what the box does without because the processor does not suffice
    failed   parts that keep ending or hanging; each is tried again and counts until it is up
    taken_back  answers since the conductor's start that came before the owner had finished
    passed_on   sentences since then that a voice was to say and could not: another said them
    """

    version: str = __version__
    pid: int
    state: str = "starting"
    ready: bool = False
    reading: bool = False
    healthy: bool = False
    failed: tuple[str, ...] = ()
    shed: tuple[str, ...] = ()
    taken_back: int = 0
    passed_on: int = 0

    @property
    def well(self) -> bool:
        """It does all that it is there for."""
        return self.ready and self.healthy and not self.failed and self.state != "failed"

    @property
    def talking(self) -> bool:
        """A conversation is under way: not the time for a restart."""
        return self.state not in {"starting", "idle", "muted", "failed"}


class StatusFile:
    """Writes a status whenever it differs from the last one."""

    def __init__(self, folder: Path | None) -> None:
        """Without a folder it writes nothing: nobody asked for it."""
        self._path = folder / NAME if folder is not None else None
        self._last: SupervisorStatus | None = None

    def write(self, status: SupervisorStatus) -> None:
        """Whole or not at all. What cannot be written is said, and never stops the box."""
        if self._path is None or status == self._last:
            return
        self._last = status
        try:
            write_whole(self._path, msgspec.json.encode(status), lasting=False)
        except OSError as error:
            log.warning("%s cannot be written (%s)", self._path, error.strerror)


def folder() -> Path | None:
    """Where systemd wants it (RuntimeDirectory=); None when the box is no service."""
    runtime = os.environ.get("RUNTIME_DIRECTORY")
    return Path(runtime.split(":")[0]) if runtime else None


def read_status(where: Path = FOLDER) -> SupervisorStatus | None:
    """The last status of the box that runs here; None if none does, or it writes none.

    The folder is the box's own user's, and root reads it, too: whatever lies there, it returns.
    """
    return read_record(where / NAME, SupervisorStatus)
