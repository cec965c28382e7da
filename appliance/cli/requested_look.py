"""`interlude system look`: starts a search for a newer version that the page requested.

In: one record in a folder in memory, deleted whatever it contains. Out: a started unit, which runs
as an unprivileged user, and the request's outcome. This command runs as root, and reads no address
and no stick itself.
"""

from __future__ import annotations

import os
import pwd
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from appliance.atomic_file import write_whole
from appliance.cli.requested_change import USER
from appliance.errors import InterludeError, NotAllowed, ShownAs, StorageError
from appliance.runtime import handed_request
from appliance.runtime.handed_request import CHANGED, RequestOutcome
from appliance.update.look_request import REQUEST, LookRequest
from appliance.update.release.look_record import PULL, mark

BY_ID = Path("/dev/disk/by-id")  # links of udev's 60-persistent-storage.rules: usb-… for USB
MOUNTS = Path("/proc/self/mountinfo")
_PARTITION = re.compile(r"[a-z]{2,10}[0-9]{0,3}")  # the kernel's names: sda1


def systemd_start(unit: str, systemctl: str = "systemctl") -> None:
    """Tell systemd to start a unit. Returns at once. Raises StorageError."""
    try:
        done = subprocess.run(
            [systemctl, "start", "--no-block", unit],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _not_started(str(error)) from error
    if done.returncode:
        raise _not_started(done.stderr.strip() or f"exit code {done.returncode}")


def cli_look(
    *,
    wanted: Path = handed_request.WANTED,
    changed: Path = CHANGED,
    pull: Path = PULL,
    by_id: Path = BY_ID,
    mounts: Path = MOUNTS,
    start: Callable[[str], None] = systemd_start,
    user: int | None = None,
) -> int:
    """Start the requested search. Raises StorageError if its outcome cannot be written."""
    user_id = pwd.getpwnam(USER).pw_uid if user is None else user
    request = handed_request.pop(REQUEST, LookRequest, user_id, wanted)
    if request is None:
        return 0
    try:
        units = _units(request, pull, sticks(by_id, mounts))
        write_whole(mark(request.source, changed), b"", lasting=False)
        for unit in units:
            start(unit)
    except InterludeError as error:
        print(f"<4>cannot look for a newer version: {error}")  # a warning: sd-daemon(3)
        outcome = RequestOutcome.of_error(request.id, error)
    else:
        print(f"looking for a newer version: {', '.join(units) or 'waiting for a stick'}")
        outcome = RequestOutcome(request.id, names=tuple(units))
    handed_request.tell(REQUEST, outcome, changed)
    return 0


def _units(request: LookRequest, pull: Path, partitions: list[str]) -> list[str]:
    if request.source == "stick":
        return [f"interlude-stick@{name}.service" for name in partitions]
    if not pull.exists():
        shown = ShownAs.of("page-wrong-look-nowhere")
        raise NotAllowed("No address is set at which this box would look.", shown=shown)
    return ["interlude-pull.service"]


def sticks(by_id: Path = BY_ID, mounts: Path = MOUNTS) -> list[str]:
    """Kernel names of USB partitions that are not mounted.

    A box that boots from USB has its own partitions mounted. The unit checks the file system.
    """
    try:
        links = sorted(link for link in by_id.iterdir() if link.name.startswith("usb-"))
        used = {line.split()[2] for line in mounts.read_text().splitlines()}
    except OSError:
        return []
    names = {link.resolve().name for link in links if _number(link) not in used}
    return sorted(name for name in names if _PARTITION.fullmatch(name))


def _number(link: Path) -> str:
    """The device number as in mountinfo (proc(5)), major:minor; "" if it is gone."""
    try:
        number = link.stat().st_rdev
    except OSError:
        return ""
    return f"{os.major(number)}:{os.minor(number)}"


def _not_started(why: str) -> StorageError:
    shown = ShownAs.of("page-wrong-nobody-asked", why=why[:200])
    return StorageError(f"systemd cannot be asked ({why}).", "Are you root?", shown=shown)
