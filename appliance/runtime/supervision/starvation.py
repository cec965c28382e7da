"""Is a silent process hung, or does it not get the processor? Pure: readings and times in.

A process that hangs could run and does not beat. Of the time since its last heartbeat therefore
only that counts in which it had the processor or did not want it: not its wait in the run queue,
not its wait for the disk, not the time in which the supervisor itself did not run.
"""

from __future__ import annotations

from appliance.runtime.supervision.procfs import SchedulerReading

DISK_S = 30.0  # in the kernel (state D) are excused in one silence: a card that stalls, 4 GB read
LATE_S = 1.0  # the supervisor, which sleeps nearly always, ran so much later than it wanted to
STEP_S = 2.0  # between two steps of shedding: the first needs a moment to help
CALM_S = 30.0  # without a sign of it, and one step is taken back
APART_S = 5.0  # between two starts while there is too little processor
SHEDS = (
    "words",
    "read-ahead",
)  # what the box can do without, in this order (runtime/ipc/floor.py: strain)


class SilenceMeter:
    """How long one process has been silent, and how much of that it could not help."""

    def __init__(self) -> None:
        self.excused_s = 0.0
        self._silent_s = 0.0
        self.disk_s = 0.0  # of that in the kernel
        self._at_s: float | None = None
        self._before: SchedulerReading | None = None

    def update(
        self,
        now_s: float,
        silent_s: float,
        reading: SchedulerReading | None,
        late_s: float,
        most_disk_s: float = DISK_S,
    ) -> float:
        """Returns its own silence, in seconds. `silent_s`: since its last heartbeat. `reading`:
        None where nothing is known. `late_s`: the supervisor did not run for so long just now.
        `most_disk_s`: of one silence so much in the kernel is excused."""
        since_s = now_s - self._at_s if self._at_s is not None else 0.0
        if silent_s < self._silent_s:
            self.excused_s = self.disk_s = 0.0  # it has beaten
        excused_s = max(late_s, self._waited_s(reading, since_s, most_disk_s))
        self.excused_s = min(silent_s, self.excused_s + min(since_s, excused_s))
        self._silent_s, self._at_s, self._before = silent_s, now_s, reading
        return silent_s - self.excused_s

    @property
    def queued_s(self) -> float:
        """How much of the silence was for want of a processor."""
        return max(0.0, self.excused_s - self.disk_s)

    def _waited_s(self, now: SchedulerReading | None, since_s: float, most_disk_s: float) -> float:
        """Of the last `since_s`: how long it waited for the processor or the disk."""
        before = self._before
        if now is None or before is None:
            return 0.0
        if now.state == "D":
            excused_s = min(since_s, max(0.0, most_disk_s - self.disk_s))
            self.disk_s += excused_s
            return excused_s
        # Any thread's wait: the main thread may sleep until another one lets go of a lock.
        waits = (
            total_s - before.waited_s.get(task, total_s) for task, total_s in now.waited_s.items()
        )
        waited_s = max(waits, default=0.0)
        if now.state == before.state == "R":  # what is still in the queue is not counted yet
            waited_s = max(waited_s, since_s - (now.ran_s - before.ran_s))
        return waited_s


def starves(silent_s: float, queued_s: float, patience_s: float) -> bool:
    """It has been silent for long, and most of that, `queued_s`, for want of a processor."""
    return silent_s > patience_s / 2 and queued_s > silent_s / 2


class LoadShedding:
    """What the box does without while it gets too little processor: the first `level` of SHEDS."""

    def __init__(self) -> None:
        self.level = 0
        self._changed_s = 0.0  # when the level changed, or a sign of it was seen last
        self._raised_s = 0.0  # when the level was last raised by a step

    def update(self, now_s: float, *, starved: bool) -> None:
        """`starved`: a process that the box needs starves now, or the supervisor does."""
        if starved:
            self._changed_s = now_s
            if self.level == 0 or (self.level < len(SHEDS) and now_s - self._raised_s >= STEP_S):
                self._raise(self.level + 1, now_s)
        elif self.level and now_s - self._changed_s >= CALM_S:
            self.level -= 1
            self._changed_s = now_s

    def may_restart(
        self,
        now_s: float,
        *,
        queued_s: float,
        patience_s: float,
        others_start: bool,
        started_s: float,
    ) -> bool:
        """May a process that hangs be killed now? Where there is processor enough, at once; else
        everything is shed first, and one is started at a time."""
        if self.level == 0 and queued_s < patience_s / 4:
            return True
        if self.level < len(SHEDS):
            self._raise(len(SHEDS), now_s)
            return False
        self._changed_s = now_s  # a process is silent: what was shed stays shed until that is over
        waited = now_s - self._raised_s >= patience_s
        return waited and self.may_start(now_s, others_start=others_start, started_s=started_s)

    def may_start(self, now_s: float, *, others_start: bool, started_s: float) -> bool:
        """May a process be started now? `others_start`: one was started and is not up yet.
        `started_s`: when the newest start was; whoever hangs as it starts holds up nobody else."""
        return self.level == 0 or not others_start or now_s - started_s >= APART_S

    def _raise(self, level: int, now_s: float) -> None:
        self.level = level
        self._changed_s = self._raised_s = now_s
