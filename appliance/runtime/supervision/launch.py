"""Entry point of the launcher and, after its fork, of each part: ties its life to its parent before
any large import.

`python -m appliance.runtime.supervision.launch PARENT FD`: PARENT is the supervisor's process id,
FD a socket for the requests. The kernel sends SIGKILL when the parent ends.
"""

from __future__ import annotations

import sys

from appliance.runtime.supervision.parent_death import ORPHANED, bind_to

if __name__ == "__main__":
    if not bind_to(int(sys.argv[1])):
        sys.exit(ORPHANED)
    # Imported here: this takes longer than everything above.
    from appliance.runtime import worker
    from appliance.runtime.supervision import launcher_process

    if name := launcher_process.serve(int(sys.argv[2])):
        sys.exit(worker.main(name))
