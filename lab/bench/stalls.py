"""When the machine itself stands still: a real-time thread beside the box that does nothing else.

A process of its own with a higher real-time priority than every part of the box wakes each 5 ms,
on one core, and tells when it woke late. What is late then is no other program's doing: a virtual
machine's host took the processor away, or the kernel did not let go of it. A dropout at such a
moment says nothing of the box.
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
# A part of the box that wakes so late has little of its reserve left (`card.reserve_ms`: 7 ms).
LATE_NS = 4_000_000
PRIORITY = 30  # above playback's 21
TOLD_NS = 1_500_000_000  # a dropout is told at most so long after it


class NotRealTime(InterludeError):
    """This user may not have real-time priority."""


@dataclass
class StallWatch:
    """`stalls`: when a wake-up was due, and how late it came, both in ns of CLOCK_MONOTONIC."""

    stalls: list[tuple[int, int]] = field(default_factory=list)

    def excuses(self, told_ns: int) -> bool:
        """Whether the machine stood still just before what was told at that time."""
        return any(due <= told_ns and due + late >= told_ns - TOLD_NS for due, late in self.stalls)

    def excused(self, told_ns: Iterable[int]) -> int:
        """How many of these."""
        return sum(map(self.excuses, told_ns))


@contextlib.contextmanager
def watch(core: int) -> Iterator[StallWatch]:
    """What was late while it lasts is complete at its end. Raises NotRealTime."""
    found = StallWatch()
    command = [sys.executable, "-m", "lab.bench.stalls", str(core), str(os.getpid())]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        if program.stdout.readline() != "ready\n":
            raise NotRealTime(
                "The machine's own stalls cannot be told without real-time priority.",
                "Run it as root, or with a limit `rtprio` (ulimit -r).",
            )
        try:
            yield found
        finally:
            program.terminate()
            rows = (line.split() for line in program.stdout)
            found.stalls += [(int(due), int(late)) for due, late in rows]


def main(core: int, parent: int) -> None:
    """Until it is ended, or its parent is gone."""
    with contextlib.suppress(OSError):  # a machine without that core
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
