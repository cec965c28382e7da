"""What the supervisor and the launcher send each other, one datagram each.

A request comes with the descriptors of the new process. The first is a socket on which the launcher
reports that process's id, with a pidfd, and later its end. The next two become its stdout and
stderr, and the others get the numbers `fds`.
"""

from __future__ import annotations

import struct
from enum import IntEnum

import msgspec

MOST_FDS = 253  # SCM_MAX_FD of unix(7)
MOST_BYTES = 1 << 17  # of a request: the settings and the environment take some 20 KB
STREAMS = (1, 2)  # stdout and stderr
PING = ""  # the name in a request that starts nothing and only closes the socket of its reports
_REPORT = struct.Struct("=Bi")


class LaunchRequest(msgspec.Struct, frozen=True):
    """A process to start. `name` is its row, `folder` its working folder, `fds` the numbers of its
    descriptors."""

    name: str
    environment: dict[str, str]
    folder: str
    fds: tuple[int, ...]


class ReportKind(IntEnum):
    """What a report says; in brackets its value."""

    STARTED = 1  # (process id)
    ENDED = 2  # (exit code; a signal as a negative number)
    NOT_STARTED = 3  # (errno)


def report(kind: ReportKind, value: int) -> bytes:
    return _REPORT.pack(kind, value)


def read_report(data: bytes) -> tuple[ReportKind, int]:
    kind, value = _REPORT.unpack(data)
    return ReportKind(kind), value
