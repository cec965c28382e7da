"""A free port: nobody listens there, and no connection that goes out is given it."""

from __future__ import annotations

import socket

from lab.free_port import LOWEST, RANGE, free_port
from tests.lab.bench.test_mosquitto import listens


def test_it_can_be_bound_and_nobody_listens_there() -> None:
    port = free_port()
    assert not listens(port)
    with socket.create_server(("127.0.0.1", port)):
        assert listens(port)


def test_it_is_outside_the_range_that_the_kernel_gives_connections() -> None:
    low, high = map(int, RANGE.read_text().split())
    for _ in range(100):
        port = free_port()
        assert port >= LOWEST
        assert not low <= port <= high or low < 2 * LOWEST
