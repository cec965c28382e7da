"""Removes network access and the start of programs from a process and its children for good:
seccomp(2), without root.

After `no_network()` only Unix sockets can be created, and in most processes none at all: through a
Unix socket a process could reach a name resolver on this machine (systemd-resolved, avahi), and so
the network. A refused family fails with EAFNOSUPPORT, as on a kernel that was built without it.
Open descriptors are not affected.
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
# linux/filter.h: load a word of struct seccomp_data; compare; mask; return a verdict.
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000  # linux/seccomp.h
# Offsets in struct seccomp_data: number of the system call, architecture, first two arguments. Both
# machines are little-endian: an argument's low word comes first.
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
_TYPE = 0x0F  # mask of the socket type in the second argument; flags are above it (linux/net.h)

# What a process may do with Unix sockets that it creates:
#   none  nothing but socket pairs; inherited sockets work
#   door  listen and connect with SOCK_SEQPACKET only, which no resolver and no bus uses
#   any   everything
UnixSockets = Literal["none", "door", "any"]


@dataclass(frozen=True)
class SystemCalls:
    """Numbers of system calls on one architecture (linux/audit.h, asm/unistd.h)."""

    architecture: int
    socket: int
    connect: int
    socketpair: int
    io_uring_setup: int  # io_uring can create sockets, too, and seccomp does not see them
    execve: int
    execveat: int
    foreign_from: int  # numbers from here on belong to another ABI of the same architecture


MACHINES = {
    "x86_64": SystemCalls(
        0xC000003E, socket=41, connect=42, socketpair=53, io_uring_setup=425, execve=59,
        execveat=322, foreign_from=0x40000000,
    ),
    "aarch64": SystemCalls(
        0xC00000B7, socket=198, connect=203, socketpair=199, io_uring_setup=425, execve=221,
        execveat=281, foreign_from=0xFFFFFFFF,
    ),
}  # fmt: skip

# One instruction: code, jump target if true, if false (a label; "": the next one), value.
_Step = tuple[int, str, str, int]


def program(
    calls: SystemCalls, unix: UnixSockets | None = "none", *, programs: bool = True
) -> bytes:
    """The filter: an array of struct sock_filter (16-bit code, two 8-bit jumps, 32-bit value).
    `unix`: None keeps the network. `programs`: programs may be started."""
    restricted = unix in ("none", "door")
    starts = () if programs else (calls.execve, calls.execveat)
    sockets = [(_EQUAL, "socket", "allow", calls.socket)] if unix else [(_RETURN, "", "", _ALLOW)]
    pairs = [(_EQUAL, "pair", "", calls.socketpair)] if restricted else []
    connects = [(_EQUAL, "no access", "", calls.connect)] if unix == "none" else []
    families = {"any": "allow", "door": "door", "none": "no family", None: "allow"}
    blocks: dict[str, list[_Step]] = {
        "": [
            (_LOAD, "", "", _ARCHITECTURE),
            (_EQUAL, "", "kill", calls.architecture),
            (_LOAD, "", "", _NUMBER),
            (_AT_LEAST, "no call", "", calls.foreign_from),
            (_EQUAL, "no call", "", calls.io_uring_setup),
            *((_EQUAL, "no access", "", start) for start in starts),
            *pairs,
            *connects,
            *sockets,
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
        # A datagram socket of a pair can be connected to another peer; the other types cannot.
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
    """Number of instructions that the jump from `at` to `label` skips."""
    return places[label] - at - 1 if label else 0


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def no_network(unix: UnixSockets = "none", *, programs: bool = True) -> str:
    """Give up the network and, without `programs`, the start of programs. Call it before any thread
    is started: a filter belongs to one thread.

    Returns a sentence about what could not be done, or ''.
    """
    return _filter(unix, programs, "the network cannot be given up")


def no_programs() -> str:
    """Give up the start of programs, and keep the network. As `no_network`."""
    return _filter(None, False, "the start of programs cannot be given up")


def _filter(unix: UnixSockets | None, programs: bool, failed: str) -> str:
    calls = MACHINES.get(platform.machine())
    if calls is None:
        return f"{failed} on {platform.machine()}"
    try:
        install(program(calls, unix, programs=programs))
    except OSError as error:
        return f"{failed} ({error.strerror})"
    return ""


def install(steps: bytes) -> None:
    """Install a filter for this thread and its children. Raises OSError."""
    filter_program = _Program(len(steps) // 8, steps)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or (
        libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(filter_program), 0, 0) != 0
    ):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
