"""What may happen to a part of the box, done to one process of it, from outside the container.

Out of memory is the kernel's own verdict: the process is put into a control group of memory whose
limit another program of that group runs into, with itself named as the one to be ended.
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
    """Raises RuntimeError if the kernel did not choose that process."""
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
    """As soon as the last process in it was waited for."""
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
    """Where groups with a limit of memory can be made; None if nowhere."""
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
    """Whether it runs: not gone, and no zombie."""
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
