"""Entry point of the launcher and, after its fork, of each part: ties its life to its parent before
any large import.

`python -m appliance.runtime.supervision.launch PARENT FD`: PARENT is the supervisor's process id,
FD a socket for the requests. The kernel sends SIGKILL when the parent ends (PR_SET_PDEATHSIG). If
the parent had ended before that call, the process has been reparented, and getppid() differs from
PARENT.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

ORPHANED = 71  # EX_OSERR: the exit code of a process whose parent was gone
_PR_SET_PDEATHSIG = 1  # prctl(2)


def bind_to(parent: int) -> bool:
    """Have the kernel kill this process when its parent ends. False if the parent is not
    `parent`."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    return os.getppid() == parent


if __name__ == "__main__":
    if not bind_to(int(sys.argv[1])):
        sys.exit(ORPHANED)
    # Imported here: this takes longer than everything above.
    from appliance.runtime import worker
    from appliance.runtime.supervision import launcher_process

    if name := launcher_process.serve(int(sys.argv[2])):
        sys.exit(worker.main(name))
