"""The control of `bench page`: a server that refuses the attackers and keeps them as busy."""

from __future__ import annotations

import asyncio
import functools
import http.client
import socket
import time

import pytest

from lab.bench.page import elsewhere, visiting
from lab.bench.page_elsewhere import refuse
from lab.bench.page_visitors import ATTACK

pytestmark = pytest.mark.process


def test_every_request_is_refused_and_closed_connections_are_dropped() -> None:
    with elsewhere() as port:
        for place in ("/", "/events"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", place)
            assert connection.getresponse().status == 403
            connection.close()
        with socket.create_connection(("127.0.0.1", port), timeout=10) as silent:
            silent.shutdown(socket.SHUT_WR)
            assert silent.recv(1) == b""
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=10)


def test_a_silent_connection_is_closed_after_the_timeout() -> None:
    async def run() -> bytes:
        refuse_quickly = functools.partial(refuse, within_s=0.05)
        server = await asyncio.start_server(refuse_quickly, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            received = await asyncio.wait_for(reader.read(), 10)
            writer.close()
        return received

    assert asyncio.run(run()) == b""


def test_the_attackers_run_against_the_control() -> None:
    done: dict[str, int] = {}
    with elsewhere() as port, visiting(port, "x", ATTACK, done):
        time.sleep(2.0)
    assert done["a code, 403"] > 0
    assert done["uploads of a gigabyte"] > 0
    assert done["connections of a crowd"] > 0
