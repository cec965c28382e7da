"""The first lines of every process: it ends with its supervisor, before it imports anything large.

`python -m appliance.runtime.supervision.launch PARENT NAME`: PARENT is the supervisor's process id.
The kernel sends SIGKILL when the parent ends (PR_SET_PDEATHSIG); a parent that ended before that
was asked for is known by the process id of who adopted us.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

ORPHANED = 71  # EX_OSERR: the exit code of a process whose supervisor was gone
_PR_SET_PDEATHSIG = 1  # prctl(2)


def bind_to(parent: int) -> bool:
    """Have this process killed when its parent ends. False when that is not `parent` any more."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    return os.getppid() == parent


if __name__ == "__main__":
    if not bind_to(int(sys.argv[1])):
        sys.exit(ORPHANED)
    from appliance.runtime import worker  # only now: it takes longer than all that came before

    sys.exit(worker.main(sys.argv[2]))
