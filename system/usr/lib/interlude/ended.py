#!/usr/bin/python3 -I
"""Counts bad ends of interlude.service, and gives the box up after four of them in half an hour.

systemd runs it after each end of interlude.service (ExecStopPost=+), as root and outside of its
sandbox. In: the result, in the environment (systemd.exec(5), $SERVICE_RESULT), and from systemd
whether a job stopped the unit. Out: the times of the bad ends, on a tmpfs; after too many of them
the file `given-up`, which makes the next start exit with code 79 (see `start`), upon which systemd
starts interlude-settle.

systemd's own limit counts all starts, so that manual restarts reached it, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

UNIT = "interlude.service"
FOLDER = "/run/interlude-release"  # owned by root
ENDS, GIVEN_UP = "ends.json", "given-up"
MOST = 4  # bad ends within WINDOW_S
WINDOW_S = 1800.0
HOT_S = 60.0  # an orderly end by itself within this time counts as a bad one
# After these exit codes systemd starts interlude-settle in place of the box.
NO_RESTART = {
    78,
    79,
}  # appliance.errors.SettingsError; runtime/supervision/failure_rate.py, and `start`


@dataclass(frozen=True)
class End:
    """How the unit ended.

    result   $SERVICE_RESULT: success, exit-code, signal, timeout, watchdog, ...
    status   exit code; 0 after a signal
    asked    a job of systemd stopped it: a restart, a stop, or a shutdown of the machine
    lived_s  run time of its main process
    """

    result: str
    status: int
    asked: bool
    lived_s: float

    @property
    def bad(self) -> bool:
        """Whether it was not requested, and was an error or came too early."""
        return not self.asked and (self.result != "success" or self.lived_s < HOT_S)


def judge(before: Sequence[float], end: End, now_s: float) -> tuple[tuple[float, ...], bool]:
    """The times of the bad ends that still count, and whether the box is given up.

    A requested stop or restart clears the list, and so does an end that interlude-settle handles.
    """
    decided = end.result == "exit-code" and end.status in NO_RESTART
    if end.asked or decided:
        return (), False
    recent = tuple(at_s for at_s in before if 0 <= now_s - at_s < WINDOW_S)
    if not end.bad:
        return recent, False
    recent = (*recent, now_s)
    return ((), True) if len(recent) >= MOST else (recent, False)


def read(folder: Path) -> tuple[float, ...]:
    """The stored times; none if the file cannot be read."""
    try:
        return tuple(map(float, json.loads((folder / ENDS).read_bytes())))
    except (OSError, ValueError, TypeError):
        return ()


def write(path: Path, text: str) -> None:
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text)
    fresh.chmod(0o644)
    fresh.rename(path)


def seen(systemctl: str) -> End:
    """Collect the result from the environment and systemd's jobs."""
    show = ("show", UNIT, "--property=ExecMainStartTimestampMonotonic", "--value")
    began_us = _output_of(systemctl, *show).strip()
    # A line `26 interlude.service restart running`. A job `start` does not count: it exists until
    # the box is up, also after systemd's own restarts.
    jobs = _output_of(systemctl, "list-jobs", "--no-legend", UNIT)
    asked = re.search(rf"\b{re.escape(UNIT)}\s+(stop|\S*restart)\s", jobs) is not None
    status = os.environ.get("EXIT_STATUS", "")  # the name after a signal
    return End(
        os.environ.get("SERVICE_RESULT", ""),
        int(status) if status.isdecimal() else 0,
        asked,
        time.monotonic() - (int(began_us) / 1e6 if began_us.isdecimal() else 0.0),
    )


def _output_of(*command: str) -> str:
    """The output of systemctl; "" if it fails."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout
    return ""


def main() -> int:
    folder = Path(os.environ.get("INTERLUDE_RELEASE", FOLDER))
    end = seen(os.environ.get("INTERLUDE_SYSTEMCTL", "systemctl"))
    ends, given_up = judge(read(folder), end, time.monotonic())
    if given_up:
        print(f"{MOST} bad ends within {WINDOW_S / 60:g} min, the last one: {end.result}")
        write(folder / GIVEN_UP, f"{end.result} {end.status}\n")
    write(folder / ENDS, json.dumps(ends))
    return 0


if __name__ == "__main__":
    sys.exit(main())
