"""Sets cores, priority and memory limits of the calling process at its start.

Each function returns a sentence about what could not be done, or ''.
"""

from __future__ import annotations

import ctypes
import os
import resource
from pathlib import Path

from appliance.runtime.process_table import Process

# RLIMIT_DATA counts address space: stacks of threads (8 MiB each), mostly untouched heaps, and what
# OpenBLAS reserves when numpy is imported (128 MiB on arm64). Measured above the budgets of the
# table: at most 67 MiB on x86-64, 202 MiB on arm64 (Debian 13, an emulated machine).
UNTOUCHED_MIB = 384
_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4  # mlockall(2)
_MADV_POPULATE_READ = 22  # madvise(2); Linux 5.14
_MAPS = Path("/proc/self/maps")
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
    """Set FIFO scheduling or a nice value, by the row."""
    try:
        if row.scheduling == "fifo":
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(row.priority))
        elif row.nice:
            os.setpriority(os.PRIO_PROCESS, 0, row.nice)
    except OSError as error:
        return f"{row.scheduling} scheduling is not permitted ({error.strerror})"
    return ""


def lock_memory() -> str:
    """Lock all touched and mapped pages of this process in memory, present and future. Reserved
    pages that are never touched cost nothing; their first touch needs no disk."""
    libc = ctypes.CDLL(None, use_errno=True)
    readable = libc.madvise(None, 0, _MADV_POPULATE_READ) == 0
    flags = _MCL_ONFAULT if readable else 0  # an older kernel also locks untouched pages
    if libc.mlockall(_MCL_CURRENT | _MCL_FUTURE | flags) != 0:
        return f"memory cannot be locked ({os.strerror(ctypes.get_errno())})"
    read_mapped_files()
    return ""


def read_mapped_files() -> None:
    """Read all mapped files (code, tables, models) into memory, so that no page fault reads the
    disk later; locked memory keeps them there. Pages that cannot be populated (those of a device;
    all of them on an older kernel) are skipped."""
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for line in _MAPS.read_text().splitlines():
        addresses, rights, _, _, inode, *_ = line.split(maxsplit=5)
        if inode != "0" and rights.startswith("r"):
            begin, end = (int(bound, 16) for bound in addresses.split("-"))
            libc.madvise(begin, end - begin, _MADV_POPULATE_READ)


def limit_memory(budget_mib: int) -> str:
    """Limit private writable memory (RLIMIT_DATA) to budget + UNTOUCHED_MIB, so that allocations
    far beyond the budget fail in this process. Read-only mapped files do not count."""
    most = (budget_mib + UNTOUCHED_MIB) << 20
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    except (OSError, ValueError) as error:
        return f"memory cannot be limited ({error})"
    return ""


def offer_to_oom_killer(score: int) -> str:
    """Raise oom_score_adj: the kernel kills the highest score first (0 to 1000, proc(5))."""
    try:
        if score > int(_OOM.read_text()):
            _OOM.write_text(str(score))
    except (OSError, ValueError) as error:
        return f"the score for the out-of-memory killer cannot be set ({error})"
    return ""
