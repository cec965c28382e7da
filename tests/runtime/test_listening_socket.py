"""A listening socket is opened as soon as its address is free."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from appliance.runtime.listening_socket import (
    BUFFER_BYTES,
    GONE_MS,
    PROBE_AFTER_S,
    listen,
    set_up_is_open,
    try_listen,
)
from appliance.runtime.network_status import NetworkStatus, write_status


def test_a_socket_listens_on_the_given_address() -> None:
    with try_listen(("127.0.0.1", 0)) as made, socket.create_connection(made.getsockname()):
        assert made.getsockname()[0] == "127.0.0.1"


def test_connections_have_small_buffers_and_dead_peers_are_detected() -> None:
    with try_listen(("127.0.0.1", 0)) as made, socket.create_connection(made.getsockname()):
        made.setblocking(True)
        accepted, _ = made.accept()
        with accepted:
            for name in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                assert accepted.getsockopt(socket.SOL_SOCKET, name) <= 2 * BUFFER_BYTES
            assert accepted.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            waits_ms = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            idle_s = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
    assert (waits_ms, idle_s) == (GONE_MS, PROBE_AFTER_S)


def test_a_port_in_use_is_retried_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    taken = try_listen(("127.0.0.1", 0))
    waits = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        if len(waits) == 3:
            taken.close()
        return False

    address = taken.getsockname()
    made = listen(address, wait=wait, busy=lambda: False)
    assert made is not None
    made.close()
    assert len(waits) == 3
    assert caplog.text.count("nothing listens") == 1


def test_while_the_set_up_wifi_is_open_the_port_is_not_opened(tmp_path: Path) -> None:
    write_status(NetworkStatus(setup="Interlude 3f"), tmp_path)
    rounds = 0

    def wait(_: float) -> bool:
        nonlocal rounds
        rounds += 1
        if rounds == 2:
            write_status(NetworkStatus(), tmp_path)
        return False

    made = listen(("127.0.0.1", 0), wait=wait, busy=lambda: set_up_is_open(tmp_path))
    assert made is not None
    made.close()
    assert rounds == 2


def test_a_stop_ends_the_wait_for_the_port() -> None:
    assert listen(("192.0.2.1", 80), wait=lambda _: True, busy=lambda: False) is None
