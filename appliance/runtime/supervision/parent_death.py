"""Ties a process to the life of its parent. Imports nothing of ours, and nothing large."""

from __future__ import annotations

import ctypes
import os
import signal

ORPHANED = 71  # EX_OSERR: the exit code of a process whose parent was gone
_PR_SET_PDEATHSIG = 1  # prctl(2)


def bind_to(parent: int) -> bool:
    """Have the kernel kill this process when its parent ends. False if the parent is not
    `parent`: it had ended before that call, and the process has been reparented."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    return os.getppid() == parent
