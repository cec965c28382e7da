"""What the kernel tells of a process's wait for a processor, read off /proc (proc(5))."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class SchedulerReading:
    """Of one process, at one moment. The main thread is the one that beats.

    state     of the main thread: R runs or could, S sleeps, D waits in the kernel, T is stopped
    ran_s     the main thread has run for so long, seconds since its start
    waited_s  by thread id: how long it could have run and did not; the kernel adds to it when the
              thread gets a processor at last
    """

    state: str
    ran_s: float
    waited_s: Mapping[int, float]


def read_times(pid: int, proc: Path = PROC) -> SchedulerReading | None:
    """None where the process is gone, or the kernel does not tell."""
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
