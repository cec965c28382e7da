"""A process gives up the network, for good and for all that it starts: seccomp(2), no root needed.

After `no_network()` the only sockets that can be made are Unix ones; every other family is
answered with EAFNOSUPPORT, as on a kernel that was built without it. Descriptors that are open
already stay as they are.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import socket
import struct
from dataclasses import dataclass

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 38, 22  # prctl(2)
_SECCOMP_MODE_FILTER = 2
# linux/filter.h: load a word of the call's description; compare; decide.
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000  # linux/seccomp.h
# Offsets in struct seccomp_data: the call's number, the architecture, the first argument. Both
# machines are little-endian: an argument's low word comes first.
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16


@dataclass(frozen=True)
class Calls:
    """What the kernel calls things on one kind of machine (linux/audit.h, asm/unistd.h)."""

    architecture: int
    socket: int
    io_uring_setup: int  # a ring of requests makes sockets, too, and no filter sees them
    foreign_from: int  # numbers from here on belong to another ABI of the same machine


MACHINES = {
    "x86_64": Calls(0xC000003E, socket=41, io_uring_setup=425, foreign_from=0x40000000),
    "aarch64": Calls(0xC00000B7, socket=198, io_uring_setup=425, foreign_from=0xFFFFFFFF),
}


def program(calls: Calls) -> bytes:
    """The filter: an array of struct sock_filter (16-bit code, two 8-bit jumps, 32-bit value)."""
    refused = {"family": _ERRNO | errno.EAFNOSUPPORT, "call": _ERRNO | errno.ENOSYS}
    steps = (
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, calls.architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 5, 0, calls.foreign_from),  # → the refused call
        (_EQUAL, 4, 0, calls.io_uring_setup),  # → the refused call
        (_EQUAL, 0, 4, calls.socket),  # anything else → allow
        (_LOAD, 0, 0, _FIRST),
        (_EQUAL, 2, 0, socket.AF_UNIX),  # → allow
        (_RETURN, 0, 0, refused["family"]),
        (_RETURN, 0, 0, refused["call"]),
        (_RETURN, 0, 0, _ALLOW),
    )
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def no_network() -> str:
    """Give the network up. Call it before any thread is started: each has a filter of its own.

    Returns what could not be done, or ''.
    """
    calls = MACHINES.get(platform.machine())
    if calls is None:
        return f"the network cannot be given up on {platform.machine()}"
    steps = program(calls)
    wanted = _Program(len(steps) // 8, steps)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or (
        libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(wanted), 0, 0) != 0
    ):
        return f"the network cannot be given up ({os.strerror(ctypes.get_errno())})"
    return ""
