"""Entry point of every child process: ties its life to the supervisor before any large import.

`python -m appliance.runtime.supervision.launch PARENT NAME`: PARENT is the supervisor's process id.
The kernel sends SIGKILL when the parent ends (PR_SET_PDEATHSIG). If the parent had ended before
that call, the process has been reparented, and getppid() differs from PARENT.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

ORPHANED = 71  # EX_OSERR: the exit code of a process whose supervisor was gone
_PR_SET_PDEATHSIG = 1  # prctl(2)


def bind_to(parent: int) -> bool:
    """Have the kernel kill this process when its parent ends. False if the parent is not
    `parent`."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    return os.getppid() == parent


if __name__ == "__main__":
    if not bind_to(int(sys.argv[1])):
        sys.exit(ORPHANED)
    from appliance.runtime import worker  # imported here: takes longer than everything above

    sys.exit(worker.main(sys.argv[2]))
