"""Distinguishes a hung process from one that gets no processor time. Pure: readings and times in.

A hung process could run, but does not beat. Of the time since the last heartbeat, the process's
waits in the run queue and for the disk, and the time in which the supervisor itself did not run,
are therefore excused.
"""

from __future__ import annotations

from appliance.runtime.supervision.procfs import SchedulerReading

DISK_S = 30.0  # most time in state D that is excused per silence: an SD card stall, a read of 4 GB
LATE_S = 1.0  # the supervisor, which nearly always sleeps, woke this much later than due: starved
STEP_S = 2.0  # between two steps of load shedding: a step takes a moment to have an effect
CALM_S = 30.0  # without starvation before one step is undone
APART_S = 5.0  # between two starts of processes during load shedding
SHEDS = (
    "words",
    "read-ahead",
)  # work that is shed, in this order (runtime/ipc/floor.py: strain)


class SilenceMeter:
    """Measures how long one process has been silent, and how much of that is excused."""

    def __init__(self) -> None:
        self.excused_s = 0.0
        self._silent_s = 0.0
        self.disk_s = 0.0  # part of it in state D
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
        """Returns the silence that is not excused, in seconds. `silent_s`: time since the last
        heartbeat. `reading`: None if there is none. `late_s`: how long the supervisor did not run
        before this call. `most_disk_s`: most time in state D that is excused per silence."""
        since_s = now_s - self._at_s if self._at_s is not None else 0.0
        if silent_s < self._silent_s:
            self.excused_s = self.disk_s = 0.0  # a heartbeat came
        excused_s = max(late_s, self._waited_s(reading, since_s, most_disk_s))
        self.excused_s = min(silent_s, self.excused_s + min(since_s, excused_s))
        self._silent_s, self._at_s, self._before = silent_s, now_s, reading
        return silent_s - self.excused_s

    @property
    def queued_s(self) -> float:
        """Part of the silence that the process waited for a processor."""
        return max(0.0, self.excused_s - self.disk_s)

    def _waited_s(self, now: SchedulerReading | None, since_s: float, most_disk_s: float) -> float:
        """Part of the last `since_s` that it waited for the processor or the disk."""
        before = self._before
        if now is None or before is None:
            return 0.0
        if now.state == "D":
            excused_s = min(since_s, max(0.0, most_disk_s - self.disk_s))
            self.disk_s += excused_s
            return excused_s
        # The wait of any thread: the main thread may sleep on a lock that another thread holds.
        thread_waits_s = (
            total_s - before.waited_s.get(task, total_s) for task, total_s in now.waited_s.items()
        )
        waited_s = max(thread_waits_s, default=0.0)
        if now.state == before.state == "R":  # schedstat does not count the current wait yet
            waited_s = max(waited_s, since_s - (now.ran_s - before.ran_s))
        return waited_s


def starves(silent_s: float, queued_s: float, patience_s: float) -> bool:
    """Whether it has been silent for half its limit, and for most of that, `queued_s`, had no
    processor."""
    return silent_s > patience_s / 2 and queued_s > silent_s / 2


class LoadShedding:
    """Decides the load shedding: the first `level` of SHEDS are left undone."""

    def __init__(self) -> None:
        self.level = 0
        self._changed_s = 0.0  # of the last change of the level, or the last starvation
        self._raised_s = 0.0  # of the last rise of the level

    def update(self, now_s: float, *, starved: bool) -> None:
        """Adapt the level. `starved`: a needed process or the supervisor gets no processor now."""
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
        """Whether a hung process may be killed now: at once if there is enough processor time;
        else everything is shed first, and one process is started at a time."""
        if self.level == 0 and queued_s < patience_s / 4:
            return True
        if self.level < len(SHEDS):
            self._raise(len(SHEDS), now_s)
            return False
        self._changed_s = now_s  # a process is silent: keep the level meanwhile
        waited = now_s - self._raised_s >= patience_s
        return waited and self.may_start(now_s, others_start=others_start, started_s=started_s)

    def may_start(self, now_s: float, *, others_start: bool, started_s: float) -> bool:
        """Whether a process may be started now. `others_start`: another one is starting.
        `started_s`: time of the newest start; a process that hangs at its start delays the others
        by APART_S at most."""
        return self.level == 0 or not others_start or now_s - started_s >= APART_S

    def _raise(self, level: int, now_s: float) -> None:
        self.level = level
        self._changed_s = self._raised_s = now_s
