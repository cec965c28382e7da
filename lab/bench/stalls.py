"""Detects stalls of the machine itself, to excuse dropouts that the box did not cause.

A separate process with a higher real-time priority than every part of the box wakes each 5 ms on
one core and reports late wake-ups. No other program can cause these: either the host of a virtual
machine took the processor away, or the kernel could not be preempted. Dropouts at such a time are
not the box's fault.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from appliance.errors import InterludeError

PERIOD_NS = 5_000_000
# A part of the box that wakes so late has used most of its reserve (`card.reserve_ms`: 7 ms).
LATE_NS = 4_000_000
PRIORITY = 30  # above playback's 21
REPORT_DELAY_NS = 1_500_000_000  # longest delay between a dropout and its message


class NotRealTime(InterludeError):
    """This user has no permission for real-time priority."""


@dataclass
class StallWatch:
    """`stalls`: due time of each late wake-up (CLOCK_MONOTONIC) and its delay, both in ns."""

    stalls: list[tuple[int, int]] = field(default_factory=list)

    def excuses(self, reported_ns: int) -> bool:
        """Whether a stall overlaps the `REPORT_DELAY_NS` before a message of that time."""
        return any(
            due <= reported_ns and due + late >= reported_ns - REPORT_DELAY_NS
            for due, late in self.stalls
        )

    def excused(self, reported_ns: Iterable[int]) -> int:
        """The number of messages that a stall excuses."""
        return sum(map(self.excuses, reported_ns))


@contextlib.contextmanager
def watch(core: int) -> Iterator[StallWatch]:
    """Watch for stalls; `StallWatch.stalls` is filled on exit. Raises NotRealTime."""
    found = StallWatch()
    command = [sys.executable, "-m", "lab.bench.stalls", str(core), str(os.getpid())]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        if program.stdout.readline() != "ready\n":
            raise NotRealTime(
                "Stalls of the machine cannot be detected without real-time priority.",
                "Run it as root, or with a limit `rtprio` (ulimit -r).",
            )
        try:
            yield found
        finally:
            program.terminate()
            rows = (line.split() for line in program.stdout)
            found.stalls += [(int(due), int(late)) for due, late in rows]


def main(core: int, parent: int) -> None:
    """Print late wake-ups until the process is terminated or its parent exits."""
    with contextlib.suppress(OSError):  # there may be no such core
        os.sched_setaffinity(0, {core})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError:
        return
    print("ready", flush=True)
    due = time.monotonic_ns()
    while os.getppid() == parent:
        due += PERIOD_NS
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        late = time.monotonic_ns() - due
        if late >= LATE_NS:
            print(due, late, flush=True)
            due += late // PERIOD_NS * PERIOD_NS


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
