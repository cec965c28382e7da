#!/usr/bin/python3 -I
"""Counts how often the box ended badly, and has it given up after four such ends in half an hour.

Run by systemd after each end of interlude.service, as root and outside of its sandbox. In: how it
ended, in the environment (systemd.exec(5), $SERVICE_RESULT), and from systemd whether a job ended
it. Out: the times of the bad ends, in memory; after too many of them `given-up`, with which the
next start ends with exit code 79 (see `start`), and systemd calls interlude-settle.

systemd's own limit counts starts, whatever they follow: restarts by hand reached it, too.
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
FOLDER = "/run/interlude-release"  # root's
ENDS, GIVEN_UP = "ends.json", "given-up"
MOST = 4  # bad ends within WINDOW_S
WINDOW_S = 1800.0
HOT_S = 60.0  # a box that ends by itself and in order within so short a time is not well
# After these systemd does not start the box again, but asks interlude-settle at once.
NO_RESTART = {
    78,
    79,
}  # appliance.errors.SettingsError; runtime/supervision/failure_rate.py, and `start`


@dataclass(frozen=True)
class End:
    """How it ended.

    result   as systemd names it: success, exit-code, signal, timeout, watchdog, ...
    status   the exit code; 0 if it was a signal
    asked    a job of systemd's ended it: somebody restarts or stops it, or the machine stops
    lived_s  since the start of its main process
    """

    result: str
    status: int
    asked: bool
    lived_s: float

    @property
    def bad(self) -> bool:
        """Nobody asked for it, and it was no restart in order after a while."""
        return not self.asked and (self.result != "success" or self.lived_s < HOT_S)


def judge(before: Sequence[float], end: End, now_s: float) -> tuple[tuple[float, ...], bool]:
    """The times of the bad ends that count from now on, and whether the box is given up.

    Who asks for an end or a start begins anew, and so does interlude-settle.
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
    """The times that were noted; none if they cannot be read."""
    try:
        return tuple(map(float, json.loads((folder / ENDS).read_bytes())))
    except (OSError, ValueError, TypeError):
        return ()


def write(path: Path, words: str) -> None:
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(words)
    fresh.chmod(0o644)
    fresh.rename(path)


def seen(systemctl: str) -> End:
    """How it ended, and what systemd is about to do."""
    show = ("show", UNIT, "--property=ExecMainStartTimestampMonotonic", "--value")
    began_us = _say(systemctl, *show).strip()
    # A line `26 interlude.service restart running`. A job to start it is no end: it is there until
    # the box is up, also after systemd's own restarts.
    jobs = _say(systemctl, "list-jobs", "--no-legend", UNIT)
    asked = re.search(rf"\b{re.escape(UNIT)}\s+(stop|\S*restart)\s", jobs) is not None
    status = os.environ.get("EXIT_STATUS", "")  # of a signal, its name
    return End(
        os.environ.get("SERVICE_RESULT", ""),
        int(status) if status.isdecimal() else 0,
        asked,
        time.monotonic() - (int(began_us) / 1e6 if began_us.isdecimal() else 0.0),
    )


def _say(*words: str) -> str:
    """What systemd answers; nothing if it does not."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=5).stdout
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
