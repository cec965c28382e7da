"""The status of the box, in the world-readable file /run/interlude/status.json.

The supervisor writes it at every change; `interlude status`, the fleet's table and installers of
earlier versions read it. It is on a tmpfs, and systemd removes it when the box stops.

Every part of the box can write that file. The health check of an update therefore reads a line that
the supervisor sends to systemd (sd_notify(3), STATUS=), which accepts it from the unit's main
process alone (NotifyAccess=main) and shows it to root.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

import msgspec

from appliance import __version__
from appliance.atomic_file import write_whole
from appliance.record_file import read_record

FOLDER = Path("/run/interlude")  # the unit's RuntimeDirectory=
NAME = "status.json"
UNTOLD = ""  # the version, if a release of an earlier version does not tell it to systemd
_LINE = re.compile(r"(\d\S*) ([a-z_]+)((?:, [a-z]+)*)(?:; failed: ([^;]*))?(?:; without: .*)?")

log = logging.getLogger("status")


class SupervisorStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One status.

    version  of the running code, which may differ from the installed release
    pid      of the supervisor; systemd's MainPID
    state    of the conversation; "starting" until the conductor has sent one
    ready    every part that has not failed is ready
    reading  the start continues while the model evaluates the prompt before any question
    healthy  every needed part is up, or about to be
    shed     work that load shedding leaves undone
    failed   parts that keep ending or hanging; each is retried, and listed until it is up
    taken_back  answers since the conductor's start that came before the owner had finished
    passed_on   sentences since then that a voice could not speak, and another voice spoke
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
        """Whether all parts work."""
        return self.ready and self.healthy and not self.failed and self.state != "failed"

    @property
    def talking(self) -> bool:
        """Whether a conversation is under way, so that the box should not be restarted."""
        return self.state not in {"starting", "idle", "muted", "failed"}


def systemd_line(status: SupervisorStatus) -> str:
    """The status as a line for systemd: `0.2.0 idle, ready, healthy; failed: link; without: …`."""
    words = [word for word in ("ready", "healthy", "reading") if getattr(status, word)]
    line = ", ".join((f"{status.version} {status.state}", *words))
    for what, names in (("failed", status.failed), ("without", status.shed)):
        line += f"; {what}: {', '.join(names)}" if names else ""
    return line


def parse_systemd_line(line: str, pid: int) -> SupervisorStatus | None:
    """The status in such a line of the process `pid`; None for an empty one.

    A release of an earlier version has another line there, and sends it when it is ready. It counts
    as ready and healthy, as systemd sees it.
    """
    if not line:
        return None
    if (found := _LINE.fullmatch(line)) is None:
        return SupervisorStatus(version=UNTOLD, pid=pid, state="idle", ready=True, healthy=True)
    version, state, words, failed = found.groups()
    flags = set(words.split(", "))
    return SupervisorStatus(
        version=version, pid=pid, state=state, ready="ready" in flags, healthy="healthy" in flags,
        reading="reading" in flags, failed=tuple(failed.split(", ")) if failed else (),
    )  # fmt: skip


class StatusFile:
    """Writes a status whenever it differs from the last one."""

    def __init__(self, folder: Path | None) -> None:
        """`folder`: None writes nothing."""
        self._path = folder / NAME if folder is not None else None
        self._last: SupervisorStatus | None = None

    def write(self, status: SupervisorStatus) -> None:
        """Write a changed status atomically. A failure is logged, and raises nothing."""
        if self._path is None or status == self._last:
            return
        self._last = status
        try:
            write_whole(self._path, msgspec.json.encode(status), lasting=False)
        except OSError as error:
            log.warning("%s cannot be written (%s)", self._path, error.strerror)


def folder() -> Path | None:
    """The folder of systemd's RuntimeDirectory=; None when the box is not a service."""
    runtime = os.environ.get("RUNTIME_DIRECTORY")
    return Path(runtime.split(":")[0]) if runtime else None


def read_status(where: Path = FOLDER) -> SupervisorStatus | None:
    """The last status of the running box; None if no box runs, or it writes none.

    The box's own user can write to the folder, and root reads the file: it never blocks on what is
    there (record_file.read_record).
    """
    return read_record(where / NAME, SupervisorStatus)
