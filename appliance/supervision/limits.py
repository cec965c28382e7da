"""What a process asks of the system as it starts: cores, priority, and how much memory it may have.

Each of these returns what could not be done, in words, or ''.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
from pathlib import Path

from appliance.processes import Process

# The kernel counts address space here: stacks of threads (8 MiB each) and heaps of which most was
# never touched. Measured on x86-64, budgets of the table beside it: at most 67 MiB of that.
# On arm64 128 MiB were too little for panel and conductor (Debian 13 in an emulated machine:
# MemoryError as they start); how much they take there is not measured.
UNTOUCHED_MIB = 128 if platform.machine() == "x86_64" else 1024
_MCL_CURRENT, _MCL_FUTURE = 1, 2  # mlockall(2)
_OOM = Path("/proc/self/oom_score_adj")


def set_cores(cores: tuple[int, ...]) -> str:
    """Pin this process to those of `cores` that exist."""
    existing = os.sched_getaffinity(0)
    usable = existing.intersection(cores)
    if not cores or (not usable and not existing):
        return ""
    if not usable:
        return f"no core {', '.join(map(str, cores))} here"
    os.sched_setaffinity(0, usable)
    return ""


def set_priority(row: Process) -> str:
    """FIFO scheduling or a nice value."""
    try:
        if row.scheduling == "fifo":
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(row.priority))
        elif row.nice:
            os.setpriority(os.PRIO_PROCESS, 0, row.nice)
    except OSError as error:
        return f"{row.scheduling} scheduling is not permitted ({error.strerror})"
    return ""


def lock_memory() -> str:
    """Keep every page of this process in memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(_MCL_CURRENT | _MCL_FUTURE) != 0:
        return f"memory cannot be locked ({os.strerror(ctypes.get_errno())})"
    return ""


def limit_memory(budget_mib: int) -> str:
    """Have what goes far beyond the budget fail in this process, and cost no other one its memory:
    private writable memory, RLIMIT_DATA. Files that are mapped to be read do not count."""
    most = (budget_mib + UNTOUCHED_MIB) << 20
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    except (OSError, ValueError) as error:
        return f"memory cannot be limited ({error})"
    return ""


def offer_to_oom_killer(score: int) -> str:
    """Out of memory, the process with the highest score is ended first (0 to 1000, proc(5))."""
    try:
        if score > int(_OOM.read_text()):
            _OOM.write_text(str(score))
    except (OSError, ValueError) as error:
        return f"no place in the order of the out-of-memory killer ({error})"
    return ""
