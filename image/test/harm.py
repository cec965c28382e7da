"""Kills or stops one process of the box, from outside the container.

"out of memory" is a real kill by the kernel: the process is moved to a memory cgroup with a limit,
with the highest oom_score_adj, and another program of that cgroup exceeds the limit.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

LIMIT_BYTES = 16 << 20
KILLED_S = 10.0
REAL_TIME = 40  # a real-time signal, which has no name in Python


def out_of_memory(pid: int) -> None:
    """Let the kernel's OOM killer end the process. Raises RuntimeError if it did not."""
    folder = memory_group()
    if folder is None:
        raise RuntimeError("no control group of memory can be made on this machine")
    group = folder / f"interlude-lives-{os.getpid()}-{pid}"
    group.mkdir()
    limit = "memory.limit_in_bytes" if (group / "memory.limit_in_bytes").exists() else "memory.max"
    greedy = None
    try:
        (group / limit).write_text(str(LIMIT_BYTES))
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
        (group / "cgroup.procs").write_text(str(pid))
        takes = f"echo $$ >{group}/cgroup.procs && exec tail /dev/zero"
        greedy = subprocess.Popen(["sh", "-c", takes], stderr=subprocess.DEVNULL)
        limit_s = time.monotonic() + KILLED_S
        while alive(pid):
            if time.monotonic() > limit_s:
                raise RuntimeError(f"the kernel did not end {pid} for want of memory")
            time.sleep(0.005)
    finally:
        if greedy is not None:
            greedy.kill()
            greedy.wait()
        _remove(group)


def _remove(group: Path) -> None:
    """Remove the cgroup as soon as its last process has been reaped."""
    limit_s = time.monotonic() + KILLED_S
    while True:
        try:
            group.rmdir()
        except OSError:
            if time.monotonic() > limit_s:
                raise
            time.sleep(0.01)
        else:
            return


def memory_group() -> Path | None:
    """The folder in which memory cgroups can be created (v1 or v2); None if there is none."""
    base = Path("/sys/fs/cgroup")
    for folder, mark in (
        (base / "memory", "memory.limit_in_bytes"),
        (base, "cgroup.subtree_control"),
    ):
        offered = folder / mark
        with contextlib.suppress(OSError):
            if mark.startswith("memory.") and offered.exists():
                return folder
            if "memory" in offered.read_text().split():
                return folder
    return None


def alive(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}


def sends(number: int) -> Callable[[int], None]:
    return lambda pid: os.kill(pid, number)


HARMS: dict[str, Callable[[int], None]] = {
    "SIGKILL": sends(signal.SIGKILL),
    "SIGSTOP": sends(signal.SIGSTOP),
    "signal 40": sends(REAL_TIME),
    "out of memory": out_of_memory,
}
