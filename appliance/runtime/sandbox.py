"""A process gives up the network, for good and for all that it starts: seccomp(2), no root needed.

After `no_network()` no socket of any family but Unix can be made, and by most processes none at
all: a Unix socket leads to whoever listens on this machine, a resolver of names (systemd-resolved,
avahi) among them, and so out of the house. A family that is refused is answered with EAFNOSUPPORT,
as on a kernel that was built without it. Descriptors that are open already stay as they are.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import socket
import struct
from dataclasses import dataclass
from typing import Literal

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 38, 22  # prctl(2)
_SECCOMP_MODE_FILTER = 2
# linux/filter.h: load a word of the call's description; compare; mask; decide.
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000  # linux/seccomp.h
# Offsets in struct seccomp_data: the call's number, the architecture, the first two arguments. Both
# machines are little-endian: an argument's low word comes first.
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
_TYPE = 0x0F  # of a socket, in the second argument; flags are above it (linux/net.h)

# What a process may do with Unix sockets of its own making:
#   none  nothing: it has those that it was given, and pairs
#   door  listen, and connect, with SOCK_SEQPACKET alone, which no resolver and no bus speaks
#   any   everything
UnixSockets = Literal["none", "door", "any"]


@dataclass(frozen=True)
class SystemCalls:
    """What the kernel calls things on one kind of machine (linux/audit.h, asm/unistd.h)."""

    architecture: int
    socket: int
    connect: int
    socketpair: int
    io_uring_setup: int  # a ring of requests makes sockets, too, and no filter sees them
    foreign_from: int  # numbers from here on belong to another ABI of the same machine


MACHINES = {
    "x86_64": SystemCalls(
        0xC000003E, socket=41, connect=42, socketpair=53, io_uring_setup=425,
        foreign_from=0x40000000,
    ),
    "aarch64": SystemCalls(
        0xC00000B7, socket=198, connect=203, socketpair=199, io_uring_setup=425,
        foreign_from=0xFFFFFFFF,
    ),
}  # fmt: skip

# One instruction: code, where to go on if it holds and if not (a label; "": the next one), value.
_Step = tuple[int, str, str, int]


def program(calls: SystemCalls, unix: UnixSockets = "none") -> bytes:
    """The filter: an array of struct sock_filter (16-bit code, two 8-bit jumps, 32-bit value)."""
    narrow = unix != "any"
    pairs = [(_EQUAL, "pair", "", calls.socketpair)] if narrow else []
    connects = [(_EQUAL, "no access", "", calls.connect)] if unix == "none" else []
    families = {"any": "allow", "door": "door", "none": "no family"}
    blocks: dict[str, list[_Step]] = {
        "": [
            (_LOAD, "", "", _ARCHITECTURE),
            (_EQUAL, "", "kill", calls.architecture),
            (_LOAD, "", "", _NUMBER),
            (_AT_LEAST, "no call", "", calls.foreign_from),
            (_EQUAL, "no call", "", calls.io_uring_setup),
            *pairs,
            *connects,
            (_EQUAL, "socket", "allow", calls.socket),
        ],
        "socket": [
            (_LOAD, "", "", _FIRST),
            (_EQUAL, families[unix], "no family", socket.AF_UNIX),
        ],
        "door": [
            (_LOAD, "", "", _SECOND),
            (_AND, "", "", _TYPE),
            (_EQUAL, "allow", "no family", socket.SOCK_SEQPACKET),
        ],
        # A datagram's pair could be turned to somebody else; the others are joined for ever.
        "pair": [
            (_LOAD, "", "", _FIRST),
            (_EQUAL, "", "no family", socket.AF_UNIX),
            (_LOAD, "", "", _SECOND),
            (_AND, "", "", _TYPE),
            (_EQUAL, "allow", "", socket.SOCK_STREAM),
            (_EQUAL, "allow", "no family", socket.SOCK_SEQPACKET),
        ],
        "no family": [(_RETURN, "", "", _ERRNO | errno.EAFNOSUPPORT)],
        "no access": [(_RETURN, "", "", _ERRNO | errno.EACCES)],
        "no call": [(_RETURN, "", "", _ERRNO | errno.ENOSYS)],
        "kill": [(_RETURN, "", "", _KILL_PROCESS)],
        "allow": [(_RETURN, "", "", _ALLOW)],
    }
    places: dict[str, int] = {}
    steps: list[_Step] = []
    for label, block in blocks.items():
        places[label] = len(steps)
        steps += block
    return b"".join(
        struct.pack("=HBBI", code, _jump(yes, at, places), _jump(no, at, places), value)
        for at, (code, yes, no, value) in enumerate(steps)
    )


def _jump(label: str, at: int, places: dict[str, int]) -> int:
    """How many instructions are left out on the way from the one at `at`."""
    return places[label] - at - 1 if label else 0


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def no_network(unix: UnixSockets = "none") -> str:
    """Give the network up. Call it before any thread is started: each has a filter of its own.

    Returns what could not be done, or ''.
    """
    calls = MACHINES.get(platform.machine())
    if calls is None:
        return f"the network cannot be given up on {platform.machine()}"
    steps = program(calls, unix)
    wanted = _Program(len(steps) // 8, steps)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or (
        libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(wanted), 0, 0) != 0
    ):
        return f"the network cannot be given up ({os.strerror(ctypes.get_errno())})"
    return ""
