"""A process without network access, and its children and threads, cannot create such sockets."""

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


def test_without_the_filter_any_socket_can_be_created() -> None:
    assert child("import socket; socket.socket(socket.AF_INET); print('made')", "") == "made"


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"])
def test_the_filter_refuses_network_sockets(family: str) -> None:
    refused = child(f"socket.socket(socket.{family}, socket.SOCK_RAW)")
    assert "Address family not supported" in refused


def test_the_filter_applies_to_child_processes() -> None:
    grandchild = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    output = child(f"subprocess.run([sys.executable, '-c', {grandchild!r}])")
    assert "Address family not supported" in output


def test_the_filter_applies_to_threads() -> None:
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


def test_the_filter_refuses_io_uring() -> None:
    code = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(425, 4, None) == -1
print(errno.errorcode[ctypes.get_errno()])
"""
    assert child(code) == "ENOSYS"


def test_socket_pairs_files_and_programs_still_work() -> None:
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
    """Listeners on a Unix socket of each type, such as a name resolver has."""
    listening = []
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        listening.append(socket.socket(socket.AF_UNIX, kind))
        listening[-1].bind(str(tmp_path / kind.name))
        if kind != socket.SOCK_DGRAM:
            listening[-1].listen(5)
    yield tmp_path
    for server in listening:
        server.close()


def reach(resolver: Path, kind: str, unix: str) -> str:
    """The output of a sandboxed process that connects to the listener."""
    code = f"""
line = socket.socket(socket.AF_UNIX, socket.{kind})
line.connect({str(resolver / kind)!r})
print("reached")
"""
    return child(code, GIVE_UP.format(unix=unix))


KINDS = ("SOCK_STREAM", "SOCK_DGRAM", "SOCK_SEQPACKET")


@pytest.mark.parametrize("kind", KINDS)
def test_the_filter_refuses_connections_to_local_resolvers(kind: str, resolver: Path) -> None:
    assert "Address family not supported" in reach(resolver, kind, "none")
    assert reach(resolver, kind, "any") == "reached"


@pytest.mark.parametrize("kind", KINDS)
def test_the_control_socket_is_of_a_type_that_no_resolver_uses(kind: str, resolver: Path) -> None:
    output = reach(resolver, kind, "door")
    assert output == "reached" if kind == "SOCK_SEQPACKET" else "not supported" in output


@pytest.mark.parametrize("unix", ["none", "door"])
def test_a_socket_pair_cannot_be_redirected_to_another_address(unix: str, resolver: Path) -> None:
    """Datagram pairs are refused, because each datagram may name an address."""
    made = child("print(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))",
                 GIVE_UP.format(unix=unix))  # fmt: skip
    assert "Address family not supported" in made
    for kind in ("SOCK_STREAM", "SOCK_SEQPACKET"):
        target = str(resolver / kind)
        connect = f"socket.socketpair(socket.AF_UNIX, socket.{kind})[0].connect({target!r})"
        refusals = ("Permission denied", "already connected")
        assert any(why in child(connect, GIVE_UP.format(unix=unix)) for why in refusals)
        code = f"""
a, b = socket.socketpair(socket.AF_UNIX, socket.{kind})
try:
    a.sendto(b"name?", {target!r})
except OSError:
    print("name?")
else:
    print(b.recv(100).decode())
"""
        assert (
            child(code, GIVE_UP.format(unix=unix)) == "name?"
        )  # refused, or sent to the other end


def test_a_socket_opened_before_the_filter_cannot_connect(resolver: Path) -> None:
    before = "import socket; left = socket.socket(socket.AF_UNIX)\n" + GIVE_UP.format(unix="none")
    output = child(f"left.connect({str(resolver / 'SOCK_STREAM')!r})", before)
    assert "Permission denied" in output


def test_child_processes_cannot_connect_to_local_resolvers(resolver: Path) -> None:
    target = str(resolver / "SOCK_STREAM")
    grandchild = f"import socket; socket.socket(socket.AF_UNIX).connect({target!r})"
    output = child(f"subprocess.run([sys.executable, '-c', {grandchild!r}])")
    assert "Address family not supported" in output


NO_PROGRAMS = """
import os, socket, subprocess, sys
from appliance.runtime import sandbox
assert sandbox.{give_up} == "", "it is not possible here"
"""
STARTS = {
    "execve": "os.execve('/bin/true', ['true'], {})",
    "execveat": "os.execve(os.open('/bin/true', os.O_RDONLY), ['true'], {})",
    "posix_spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "a child": "subprocess.run(['/bin/true'])",
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(
    "give_up", ["no_programs()", "no_network(programs=False)", "no_network('any', programs=False)"]
)
def test_a_part_without_programs_cannot_start_one(start: str, give_up: str) -> None:
    before = NO_PROGRAMS.format(give_up=give_up)
    assert "Permission denied" in child(STARTS[start], before)
    assert child(STARTS[start] + "\nprint('started')", GIVE_UP.format(unix="none")) in (
        "started",
        "",
    )


def test_a_part_without_programs_may_keep_the_network() -> None:
    code = "print(socket.socket(socket.AF_INET).type.name)"
    assert child(code, NO_PROGRAMS.format(give_up="no_programs()")) == "SOCK_STREAM"


@pytest.mark.parametrize("unix", [*get_args(UnixSockets), None])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("programs", [True, False])
def test_a_filter_has_complete_instructions_and_valid_jumps(
    machine: str, unix: UnixSockets | None, programs: bool
) -> None:
    steps = program(MACHINES[machine], unix, programs=programs)
    count = len(steps) // 8
    assert len(steps) == 8 * count
    for place in range(count):
        yes, no = steps[8 * place + 2], steps[8 * place + 3]
        assert place + 1 + max(yes, no) < count or steps[8 * place] == 0x06
