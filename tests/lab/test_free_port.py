"""A free port has no listener and is not assigned to outgoing connections."""

from __future__ import annotations

import socket

from lab.free_port import LOWEST, RANGE, free_port
from tests.lab.bench.test_mosquitto import listens


def test_a_free_port_can_be_bound_and_has_no_listener() -> None:
    port = free_port()
    assert not listens(port)
    with socket.create_server(("127.0.0.1", port)):
        assert listens(port)


def test_a_free_port_is_outside_the_ephemeral_port_range() -> None:
    low, high = map(int, RANGE.read_text().split())
    for _ in range(100):
        port = free_port()
        assert port >= LOWEST
        assert not low <= port <= high or low < 2 * LOWEST
