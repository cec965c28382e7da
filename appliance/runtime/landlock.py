"""Limits the files, programs, TCP ports and signals of a process and its children for good:
landlock(7), without root.

A domain permits what is listed and nothing else; domains of children are added to it. Not covered:
open descriptors; stat(2), chmod(2) and the like, which need only the user's rights. Linux 5.13 and
later, if it is built with Landlock and boots with it; older ones know fewer rights (`abi`).
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_PR_SET_NO_NEW_PRIVS = 38  # prctl(2)
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # asm-generic/unistd.h, and on x86-64
# linux/landlock.h, from here on
_VERSION = 1  # LANDLOCK_CREATE_RULESET_VERSION
_PATH_BENEATH, _NET_PORT = 1, 2
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (
    1 << bit for bit in range(6)
)
_MAKE_DIR, _MAKE_REG, _MAKE_SOCK = 1 << 7, 1 << 8, 1 << 9
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_ANY_FREE = 0  # port
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV  # for a rule of a file
# Number of rights on files that each ABI knows, from the first bit on.
_KNOWN_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_NEWEST_FILES, _SINCE_TCP, _SINCE_SCOPES = 5, 4, 6  # ABIs
SINCE = {"TCP": _SINCE_TCP, "signals": _SINCE_SCOPES}  # what an older one does not limit

LIST = _READ_DIR
READ = _READ_FILE | _READ_DIR
WRITE = (
    READ | _WRITE_FILE | _TRUNCATE | _MAKE_REG | _MAKE_DIR | _MAKE_SOCK | _REMOVE_FILE | _REMOVE_DIR
)
DEVICE = READ | _WRITE_FILE | _IOCTL_DEV
START = _EXECUTE


@dataclass(frozen=True)
class Domain:
    """What a process may do. `files`: rights (LIST, READ, WRITE, DEVICE, START) by path; those of a
    folder hold for all that is below it. A path that does not exist now is left out. `ports`: TCP
    ports that it may connect to; with any, it may bind one that the kernel chooses, as some clients
    do.
    `abstract_sockets`: it may connect to other programs' Unix sockets without a path."""

    files: dict[Path, int] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    abstract_sockets: bool = False

    def add(self, right: int, paths: Iterable[Path]) -> None:
        for path in paths:
            self.files[path] = self.files.get(path, 0) | right


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("tcp", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


class _NetPort(ctypes.Structure):
    _fields_ = (("rights", ctypes.c_uint64), ("port", ctypes.c_uint64))


_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _call(number: int, *arguments: object) -> int:
    """A system call. Raises OSError."""
    result: int = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def abi() -> int:
    """The version of Landlock in this kernel, 1 or more. Raises OSError: ENOSYS if it has none,
    EOPNOTSUPP if it is switched off at boot."""
    return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))


def why_not(error: OSError) -> str:
    """Why `abi` raises `error`, as the end of a sentence."""
    return {
        errno.ENOSYS: "this kernel has no Landlock",
        errno.EOPNOTSUPP: "Landlock is switched off at boot",
    }.get(error.errno or 0, f"Landlock is refused: {error.strerror}")


def enter(domain: Domain) -> str:
    """Enter `domain` for good. Call it before any thread is started: a domain belongs to one
    thread. Rights that this kernel's Landlock does not know are not limited.

    Returns a sentence about what could not be done, or ''.
    """
    try:
        version = abi()
    except OSError as error:
        return f"the limits of files and programs ({why_not(error)})"
    try:
        _enter(domain, version)
    except OSError as error:
        return f"the limits of files and programs ({error.strerror})"
    return ""


def _enter(domain: Domain, version: int) -> None:
    known = (1 << _KNOWN_BITS[min(version, _NEWEST_FILES)]) - 1
    tcp = _BIND_TCP | _CONNECT_TCP if version >= _SINCE_TCP else 0
    scopes = _SIGNALS | (0 if domain.abstract_sockets else _ABSTRACT_SOCKETS)
    scopes = scopes if version >= _SINCE_SCOPES else 0
    handled = _Ruleset(known, tcp, scopes)
    # Older versions know only the first fields.
    size = 8 if version < _SINCE_TCP else 16 if version < _SINCE_SCOPES else 24
    ruleset = _call(
        _CREATE_RULESET, ctypes.byref(handled), ctypes.c_size_t(size), ctypes.c_uint32(0)
    )
    try:
        for path, rights in domain.files.items():
            _allow_path(ruleset, path, rights & known)
        if tcp and domain.ports:
            _allow_port(ruleset, _BIND_TCP, _ANY_FREE)
            for port in domain.ports:
                _allow_port(ruleset, _CONNECT_TCP, port)
        if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        _call(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow_port(ruleset: int, right: int, port: int) -> None:
    rule = _NetPort(right, port)
    _call(_ADD_RULE, ruleset, _NET_PORT, ctypes.byref(rule), ctypes.c_uint32(0))


def _allow_path(ruleset: int, path: Path, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # missing, or not accessible for this user either
    try:
        if not os.path.isdir(f"/proc/self/fd/{fd}"):  # noqa: PTH112  # the open one
            rights &= _OF_FILES
        rule = _PathBeneath(rights, fd)
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(fd)
