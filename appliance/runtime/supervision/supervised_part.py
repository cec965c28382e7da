"""One row of the table and the process that embodies it: when to start it, whether it is well."""

from __future__ import annotations

import time

from appliance.runtime.ipc.heartbeat import Heartbeat
from appliance.runtime.process_table import Process
from appliance.runtime.supervision.backoff import LONGEST_NEEDED_S, LONGEST_S, BackOff
from appliance.runtime.supervision.child import Child
from appliance.runtime.supervision.failure_rate import FailureRate
from appliance.runtime.supervision.procfs import read_times
from appliance.runtime.supervision.starvation import DISK_S, SilenceMeter, starves

STUCK_S = 3.0  # after SIGKILL; a process that is still there waits in a driver, perhaps for ever


class SupervisedPart:
    """What the supervisor knows of a process. Times are seconds of CLOCK_MONOTONIC.

    child      the process while there is one, its death included until it is reaped
    announced  the conductor has been told that it is up
    failed     it ended too often, or cannot be ended; until it is up again
    starts     how often it was started
    start_s    not to be started before
    ending     why it was killed, until it is gone; None: it was not
    problem    of the newest end
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
        """How long it may be silent now."""
        return self.row.silent_s if self.heart.is_ready else self.row.start_s

    @property
    def starting(self) -> bool:
        """It runs, and does not do its work yet, nor reads what that begins with."""
        begins = not (self.heart.is_ready or self.heart.is_loading)
        return self.child is not None and self.ending is None and begins

    @property
    def is_loading(self) -> bool:
        """It has started, and reads what its work begins with."""
        return self.child is not None and self.ending is None and self.heart.is_loading

    def has_beaten(self, within_s: float) -> bool:
        """It does its work, and has beaten within that time, whatever may have kept it from it."""
        up = self.child is not None and self.ending is None and self.heart.is_ready
        return up and self.heart.age_s(time.monotonic_ns()) <= within_s

    def silent_s(self, now_ns: int) -> float:
        """Since its last heartbeat, without what it could not help."""
        return max(0.0, self.heart.age_s(now_ns) - self.silence.excused_s)

    def check_heartbeat(self, now_s: float, now_ns: int, late_s: float) -> float:
        """Look at its heartbeat. Returns its own silence, in seconds. `late_s`: the supervisor did
        not run for so long just now."""
        age_s = self.heart.age_s(now_ns)
        late = self.child is not None and age_s > self.patience_s / 4
        reading = read_times(self.child.pid) if late and self.child is not None else None
        # What locks its memory waits for no disk once it is up: there it waits for a driver.
        locked = self.row.lock_memory and self.heart.is_ready
        most_disk_s = 0.0 if locked else min(DISK_S, 2 * self.patience_s)
        return self.silence.update(now_s, age_s, reading, late_s, most_disk_s)

    def starves(self, now_ns: int) -> bool:
        """It runs, and is silent for want of a processor."""
        if self.child is None or self.ending is not None:
            return False
        return starves(self.heart.age_s(now_ns), self.silence.queued_s, self.patience_s)

    def well(self, now_s: float, now_ns: int) -> bool:
        """It does its work, or will soon."""
        if self.failed or self.back_off.chronic(now_s):
            return False
        if self.child is None or self.ending is not None:
            return True
        return self.silent_s(now_ns) <= self.patience_s

    def kill(self, problem: str, now_s: float) -> None:
        """End it for that reason. It is gone when `Child.poll` says so, and not before."""
        assert self.child is not None
        self.child.kill()
        self.ending, self._killed_s = problem, now_s

    def stuck(self, now_s: float) -> bool:
        """It was killed and is still there: a driver does not let it go."""
        return self.ending is not None and now_s - self._killed_s > STUCK_S
