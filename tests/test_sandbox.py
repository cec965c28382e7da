"""A process that gave up the network has none, nor has what it starts; all else goes on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from appliance import processes, settings
from appliance.sandbox import MACHINES, program

GIVE_UP = """
import socket, subprocess, sys
from appliance.sandbox import no_network
assert no_network() == "", no_network()
"""


def child(code: str, before: str = GIVE_UP) -> str:
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


def test_unix_sockets_files_and_programs_go_on() -> None:
    code = """
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
a.send(b"x")
socket.socket(socket.AF_UNIX).close()
done = subprocess.run(["cat", "/dev/null"], check=True)
print(b.recv(1).decode(), done.returncode)
"""
    assert child(code) == "x 0"


@pytest.mark.parametrize("machine", MACHINES)
def test_a_filter_is_whole_instructions_that_jump_within_it(machine: str) -> None:
    steps = program(MACHINES[machine])
    count = len(steps) // 8
    assert len(steps) == 8 * count
    for place in range(count):
        yes, no = steps[8 * place + 2], steps[8 * place + 3]
        assert place + 1 + max(yes, no) < count or steps[8 * place] == 0x06


# ── who keeps it ─────────────────────────────────────────────────────────────────────────────
def test_by_default_no_row_but_the_link_keeps_the_network() -> None:
    default = settings.load_defaults()
    kept = [row.name for row in processes.PROCESSES if processes.networked(row.name, default)]
    assert set(kept) <= {"link"}
    assert processes.networked("link", default)


def test_the_thinker_keeps_it_only_for_a_server_that_the_owner_named() -> None:
    server = {"thinking": {"remote": {"url": "http://192.168.1.5:8080/v1"}}}
    assert not processes.networked("thinker", settings.load_defaults())
    assert processes.networked("thinker", settings.load(overrides=server))
