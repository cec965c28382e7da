"""Reads from /proc how long a process waited for a processor (proc(5))."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class SchedulerReading:
    """Scheduler times of one process. Its main thread is the one that beats.

    state     of the main thread: R runnable, S sleeps, D waits in the kernel, T is stopped
    ran_s     processor time of the main thread since its start
    waited_s  by thread id: time in the run queue since its start; the kernel adds a wait when the
              thread gets a processor
    """

    state: str
    ran_s: float
    waited_s: Mapping[int, float]


def read_times(pid: int, proc: Path = PROC) -> SchedulerReading | None:
    """Read the times of `pid`; None if the process is gone or the kernel has no such files."""
    folder = proc / str(pid)
    try:
        state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        ran_s, _ = _schedstat(folder / "schedstat")
        waited_s = {}
        for task in (folder / "task").iterdir():
            try:
                waited_s[int(task.name)] = _schedstat(task / "schedstat")[1]
            except OSError:
                continue  # this thread has ended
    except (OSError, ValueError, IndexError):
        return None
    return SchedulerReading(state, ran_s, waited_s)


def _schedstat(path: Path) -> tuple[float, float]:
    """Seconds on a processor and in the run queue (the kernel's scheduler/sched-stats.rst)."""
    ran_ns, waited_ns = path.read_text().split()[:2]
    return int(ran_ns) / 1e9, int(waited_ns) / 1e9
