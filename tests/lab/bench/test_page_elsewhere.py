"""The control of `bench page`: attackers are refused there, and kept as busy."""

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


def test_every_request_is_refused_and_whoever_hangs_up_is_let_go() -> None:
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


def test_whoever_says_nothing_is_let_go_after_its_time() -> None:
    async def run() -> bytes:
        brief = functools.partial(refuse, within_s=0.05)
        server = await asyncio.start_server(brief, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            said = await asyncio.wait_for(reader.read(), 10)
            writer.close()
        return said

    assert asyncio.run(run()) == b""


def test_the_attackers_work_there() -> None:
    done: dict[str, int] = {}
    with elsewhere() as port, visiting(port, "x", ATTACK, done):
        time.sleep(2.0)
    assert done["a code, 403"] > 0
    assert done["uploads of a gigabyte"] > 0
    assert done["connections of a crowd"] > 0
