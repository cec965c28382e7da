"""A process that gave up the network has none, nor has what it starts; all else goes on."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from appliance.runtime.sandbox import MACHINES, UnixSockets, program

pytestmark = pytest.mark.process
GIVE_UP = """
import os, socket, subprocess, sys
from appliance.runtime.sandbox import no_network
assert no_network({unix!r}) == "", "it is not possible here"
"""


def child(code: str, before: str = GIVE_UP.format(unix="none")) -> str:
    done = subprocess.run(
        [sys.executable, "-c", before + code], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]


def test_who_keeps_the_network_can_make_any_socket() -> None:
    assert child("import socket; socket.socket(socket.AF_INET); print('made')", "") == "made"


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"])
def test_who_gave_it_up_can_make_none(family: str) -> None:
    refused = child(f"socket.socket(socket.{family}, socket.SOCK_RAW)")
    assert "Address family not supported" in refused


def test_nor_can_what_it_starts() -> None:
    grandchild = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    said = child(f"subprocess.run([sys.executable, '-c', {grandchild!r}])")
    assert "Address family not supported" in said


def test_nor_can_its_threads() -> None:
    code = """
import threading
def late():
    try:
        socket.socket(socket.AF_INET)
    except OSError as error:
        print(error.strerror)
thread = threading.Thread(target=late)
thread.start()
thread.join()
"""
    assert "Address family not supported" in child(code)


def test_an_io_uring_that_would_make_one_cannot_be_had() -> None:
    code = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(425, 4, None) == -1
print(errno.errorcode[ctypes.get_errno()])
"""
    assert child(code) == "ENOSYS"


def test_pairs_of_sockets_files_and_programs_go_on() -> None:
    code = """
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
a.send(b"x")
socket.socketpair()[0].close()
done = subprocess.run(["cat", "/dev/null"], check=True)
print(b.recv(1).decode(), done.returncode)
"""
    assert child(code) == "x 0"


@pytest.fixture
def resolver(tmp_path: Path) -> Iterator[Path]:
    """Somebody who answers questions, in each way that a Unix socket can be spoken to."""
    listening = []
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        listening.append(socket.socket(socket.AF_UNIX, kind))
        listening[-1].bind(str(tmp_path / kind.name))
        if kind != socket.SOCK_DGRAM:
            listening[-1].listen(5)
    yield tmp_path
    for one in listening:
        one.close()


def reach(resolver: Path, kind: str, unix: str) -> str:
    """What comes of speaking to it."""
    code = f"""
line = socket.socket(socket.AF_UNIX, socket.{kind})
line.connect({str(resolver / kind)!r})
print("reached")
"""
    return child(code, GIVE_UP.format(unix=unix))


KINDS = ("SOCK_STREAM", "SOCK_DGRAM", "SOCK_SEQPACKET")


@pytest.mark.parametrize("kind", KINDS)
def test_who_gave_up_the_network_asks_nobody_else_to_use_theirs(kind: str, resolver: Path) -> None:
    assert "Address family not supported" in reach(resolver, kind, "none")
    assert reach(resolver, kind, "any") == "reached"


@pytest.mark.parametrize("kind", KINDS)
def test_the_door_is_of_a_kind_that_no_resolver_speaks(kind: str, resolver: Path) -> None:
    said = reach(resolver, kind, "door")
    assert said == "reached" if kind == "SOCK_SEQPACKET" else "not supported" in said


@pytest.mark.parametrize("unix", ["none", "door"])
def test_a_pair_cannot_be_turned_to_somebody_else(unix: str, resolver: Path) -> None:
    """A pair of datagrams could: each of them may name whom it is for."""
    made = child("print(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))",
                 GIVE_UP.format(unix=unix))  # fmt: skip
    assert "Address family not supported" in made
    for kind in ("SOCK_STREAM", "SOCK_SEQPACKET"):
        there = str(resolver / kind)
        connect = f"socket.socketpair(socket.AF_UNIX, socket.{kind})[0].connect({there!r})"
        refusals = ("Permission denied", "already connected")
        assert any(why in child(connect, GIVE_UP.format(unix=unix)) for why in refusals)
        code = f"""
a, b = socket.socketpair(socket.AF_UNIX, socket.{kind})
try:
    a.sendto(b"name?", {there!r})
except OSError:
    print("name?")
else:
    print(b.recv(100).decode())
"""
        assert child(code, GIVE_UP.format(unix=unix)) == "name?"  # refused, or to the other end


def test_a_socket_that_was_open_before_is_turned_to_nobody(resolver: Path) -> None:
    before = "import socket; left = socket.socket(socket.AF_UNIX)\n" + GIVE_UP.format(unix="none")
    said = child(f"left.connect({str(resolver / 'SOCK_STREAM')!r})", before)
    assert "Permission denied" in said


def test_nor_does_what_it_starts_ask_anybody(resolver: Path) -> None:
    there = str(resolver / "SOCK_STREAM")
    grandchild = f"import socket; socket.socket(socket.AF_UNIX).connect({there!r})"
    said = child(f"subprocess.run([sys.executable, '-c', {grandchild!r}])")
    assert "Address family not supported" in said


@pytest.mark.parametrize("unix", get_args(UnixSockets))
@pytest.mark.parametrize("machine", MACHINES)
def test_a_filter_is_whole_instructions_that_jump_within_it(
    machine: str, unix: UnixSockets
) -> None:
    steps = program(MACHINES[machine], unix)
    count = len(steps) // 8
    assert len(steps) == 8 * count
    for place in range(count):
        yes, no = steps[8 * place + 2], steps[8 * place + 3]
        assert place + 1 + max(yes, no) < count or steps[8 * place] == 0x06
