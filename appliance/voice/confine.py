"""`python -m appliance.voice.confine PARENT MEMORY_MIB PROGRAM …`: executes a voice's program in a
sandbox.

Before execve it sets up the process so that it ends with its parent, cannot create or connect
sockets, cannot write files, has no capabilities and limited memory, and gets a fixed environment
instead of ours. The filter and the limits also hold for all children of the program.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys

from appliance.runtime.sandbox import no_network
from appliance.runtime.supervision.parent_death import ORPHANED, bind_to

REFUSED = 77  # EX_NOPERM: the sandbox is not complete, so the program is not started
NICE = 5  # added to the speaker's: the listener runs on the same core
OPEN_FILES = 64
_PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 24, 47, 4  # prctl(2)
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h
_OOM_SCORE = "500"  # see OOM_SCORES of runtime/process_table.py: killed before the box's own parts
# ORT_DISABLE_TELEMETRY: as in appliance/__init__.py. One thread: the listener shares the core.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
    "ORT_DISABLE_TELEMETRY": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def limit(memory_mib: int) -> None:
    """Set the limits of this process. A lower limit of memory that is set already stays. Raises
    OSError or ValueError if the system refuses."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    memory = memory_mib << 20
    if most != resource.RLIM_INFINITY:
        memory = min(memory, most)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))


def drop_capabilities() -> str:
    """Drop all capabilities permanently. Returns the problem, or ''.

    Only a process with CAP_SETPCAP can empty the bounding set; without it no_new_privs, which
    `no_network` sets, keeps execve(2) from granting any. Failed calls do not matter if no
    capability is left in the end: the box's own unit forbids capset(2).
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    number = 0
    while libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) == 0:
        number += 1
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    libc.capset(header, bytes(24))
    left = ctypes.create_string_buffer(24)
    if libc.capget(header, left) != 0 or any(left.raw):
        return f"capabilities cannot be dropped ({os.strerror(ctypes.get_errno())})"
    return ""


def main(arguments: list[str]) -> int:
    """Execute the program in this process. Returns, with an exit code, only on failure."""
    parent, memory_mib, *command = arguments
    if not bind_to(int(parent)):
        return ORPHANED
    try:
        with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123  # starts sooner
            score.write(_OOM_SCORE)
    except OSError:
        pass  # without it, the kernel may kill another process first
    os.nice(NICE)
    problem = no_network() or drop_capabilities()
    if not problem:
        try:
            limit(int(memory_mib))
        except (OSError, ValueError) as error:
            problem = f"limits cannot be set ({error})"
    if problem:
        print(problem, file=sys.stderr)  # noqa: T201  # to the journal
        return REFUSED
    try:
        os.execve(command[0], command, ENVIRONMENT)  # noqa: S606  # the program of a signed bundle
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201
    return REFUSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
