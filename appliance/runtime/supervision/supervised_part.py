"""The state of one row of the process table: its process, next start, heartbeat and failures."""

from __future__ import annotations

import time

from appliance.runtime.ipc.heartbeat import Heartbeat
from appliance.runtime.process_table import Process
from appliance.runtime.supervision.backoff import LONGEST_NEEDED_S, LONGEST_S, BackOff
from appliance.runtime.supervision.child import Child
from appliance.runtime.supervision.failure_rate import FailureRate
from appliance.runtime.supervision.procfs import read_times
from appliance.runtime.supervision.starvation import DISK_S, SilenceMeter, starves

STUCK_S = 3.0  # after SIGKILL; a process that still exists is blocked in a driver, perhaps for ever


class SupervisedPart:
    """What the supervisor knows of one part. Times are seconds of CLOCK_MONOTONIC.

    child      the process, until it has been reaped; None: there is none
    announced  the supervisor has sent PartChanged "up" for this process
    failed     it ended too often, or cannot be ended; reset when it is up again
    starts     number of starts
    start_s    earliest time of the next start
    ending     why it was killed, until it is gone; None: it was not killed
    problem    reason of the last failure
    """

    def __init__(self, row: Process, heart: Heartbeat) -> None:
        self.row = row
        self.heart = heart
        self.child: Child | None = None
        self.announced = False
        self.failed = False
        self.starts = 0
        self.start_s = 0.0
        self.ending: str | None = None
        self.problem = ""
        self.silence = SilenceMeter()
        self.back_off = BackOff(LONGEST_NEEDED_S if row.needed else LONGEST_S)
        self.ends = FailureRate()
        self._killed_s = 0.0

    @property
    def patience_s(self) -> float:
        """Longest time between two heartbeats, in its present phase."""
        return self.row.silent_s if self.heart.is_ready else self.row.start_s

    @property
    def starting(self) -> bool:
        """The process runs, and has reported neither loading nor ready."""
        begins = not (self.heart.is_ready or self.heart.is_loading)
        return self.child is not None and self.ending is None and begins

    @property
    def is_loading(self) -> bool:
        """The process has started, and loads the data that it needs before its work."""
        return self.child is not None and self.ending is None and self.heart.is_loading

    def has_beaten(self, within_s: float) -> bool:
        """The process is ready and has beaten within that time; nothing is excused."""
        up = self.child is not None and self.ending is None and self.heart.is_ready
        return up and self.heart.age_s(time.monotonic_ns()) <= within_s

    def silent_s(self, now_ns: int) -> float:
        """Time since its last heartbeat without the excused part."""
        return max(0.0, self.heart.age_s(now_ns) - self.silence.excused_s)

    def check_heartbeat(self, now_s: float, now_ns: int, late_s: float) -> float:
        """Read its heartbeat. Returns the silence that is not excused, in seconds. `late_s`: how
        long the supervisor did not run before this call."""
        age_s = self.heart.age_s(now_ns)
        late = self.child is not None and age_s > self.patience_s / 4
        reading = read_times(self.child.pid) if late and self.child is not None else None
        # A ready process with locked memory never reads the disk: in state D it waits for a driver.
        locked = self.row.lock_memory and self.heart.is_ready
        most_disk_s = 0.0 if locked else min(DISK_S, 2 * self.patience_s)
        return self.silence.update(now_s, age_s, reading, late_s, most_disk_s)

    def starves(self, now_ns: int) -> bool:
        """The process runs, and is silent because it gets no processor."""
        if self.child is None or self.ending is not None:
            return False
        return starves(self.heart.age_s(now_ns), self.silence.queued_s, self.patience_s)

    def well(self, now_s: float, now_ns: int) -> bool:
        """The part works, or is about to."""
        if self.failed or self.back_off.chronic(now_s):
            return False
        if self.child is None or self.ending is not None:
            return True
        return self.silent_s(now_ns) <= self.patience_s

    def kill(self, problem: str, now_s: float) -> None:
        """Kill the process and note the reason. It exists until `Child.poll` returns its exit
        code."""
        assert self.child is not None
        self.child.kill()
        self.ending, self._killed_s = problem, now_s

    def stuck(self, now_s: float) -> bool:
        """It was killed STUCK_S ago and still exists: it is blocked in a driver."""
        return self.ending is not None and now_s - self._killed_s > STUCK_S
