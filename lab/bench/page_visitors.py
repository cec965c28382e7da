"""Simulates the page's clients during `bench page`: viewers, or an attack from the network.

`python -m lab.bench.page_visitors PORT COOKIE KIND…` runs each KIND as often as it is named until
standard input ends, then prints a line of JSON: the attempts and their results. All clients run on
this machine, with source addresses from 127.0.0.2 on, so that each has its own. They have the
page's priority and run on the last core, since real attackers have processors of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from appliance.page.requests import FORM
from appliance.page.visit import COOKIE

CROWD, PER_ADDRESS = 200, 15  # connections in all, and from one address
HELD_S = 5.0  # how long the crowd's connections are open, and then closed
BYTE_S = 0.5  # between two bytes of a slow request
GIGABYTE = 1 << 30
PIPELINED = 500  # requests sent at once by a client that reads no reply
BACK_OFF_S = 0.02  # back-off between two attempts after a refusal


class PageVisitor:
    """One client. `address`: its source address. `done`: counts of attempts and results."""

    def __init__(self, port: int, cookie: str, address: str) -> None:
        self.done: Counter[str] = Counter()
        self._port, self._host, self._address = port, f"127.0.0.1:{port}", address
        self._cookie = f"Cookie: {COOKIE}={cookie}\r\n"
        self._held: list[asyncio.StreamWriter] = []  # references that keep connections open

    # ── viewers
    async def look(self) -> None:
        """Open a live view and read its events as they arrive."""
        reader, writer = await self._open(self._head("GET", "/events", self._cookie))
        self.done["live views"] += 1
        while data := await reader.read(65_536):
            self.done["bytes of events"] += len(data)
        writer.close()

    # ── attacks
    async def guess(self) -> None:
        """Try one pairing code after another, each as soon as the last one was answered."""
        for code in range(1_000_000):
            form = urlencode({"code": f"{code:06d}"})
            origin = f"Origin: http://{self._host}\r\n"
            self.done[f"a code, {await self._request('POST', '/pair', origin, form)}"] += 1

    async def rebind(self) -> None:
        """Send requests with a foreign Host, and forms of a foreign Origin with a valid cookie."""
        evil = "Origin: http://evil.example\r\n"
        for _ in range(1_000_000):
            by_host = await self._request("GET", "/", "", host="evil.example")
            by_origin = await self._request("POST", "/do", evil + self._cookie, "do=mute")
            self.done[f"another host, {by_host}"] += 1
            self.done[f"another origin, {by_origin}"] += 1

    async def drip(self) -> None:
        """Send a request one byte at a time."""
        _, writer = await self._open(b"")
        self.done["slow requests"] += 1
        for byte in self._head("GET", "/", "X-Slow: " + "y" * 10_000 + "\r\n"):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(BYTE_S)

    async def crowd(self) -> None:
        """Open 200 connections at once, send nothing, close them and wait."""
        for number in range(CROWD):
            address = f"127.0.1.{1 + number // PER_ADDRESS}"
            with contextlib.suppress(OSError):
                self._held.append((await self._connect(address))[1])
                self.done["connections of a crowd"] += 1
        await asyncio.sleep(HELD_S)
        while self._held:
            self._held.pop().close()
        await asyncio.sleep(HELD_S)

    async def upload(self) -> None:
        """Upload a gigabyte, with Content-Length and in chunks."""
        headers = f"Content-Length: {GIGABYTE}\r\n", "Transfer-Encoding: chunked\r\n"
        for length in headers:
            _, writer = await self._open(self._head("POST", "/pair", self._cookie + length))
            chunk = b"x" * 65_536
            if length == headers[1]:
                chunk = b"10000\r\n" + chunk + b"\r\n"
            self.done["uploads of a gigabyte"] += 1
            with contextlib.suppress(OSError):
                for _ in range(GIGABYTE // 65_536):
                    writer.write(chunk)
                    await writer.drain()
                    self.done["bytes of them taken"] += len(chunk)
            writer.close()

    async def hoard(self) -> None:
        """Open a live view and request hundreds of replies, and read none of it."""
        head = self._head("GET", "/static/live.js")
        for data in (self._head("GET", "/events", self._cookie), head * PIPELINED):
            self._held.append((await self._open(data))[1])
        self.done["views and replies not fetched"] += 2
        await asyncio.sleep(4 * HELD_S)
        while self._held:
            self._held.pop().transport.abort()

    async def flicker(self) -> None:
        """Open live views and abort each at once, as fast as possible."""
        for _ in range(1_000_000):
            reader, writer = await self._open(self._head("GET", "/events", self._cookie))
            await reader.read(20)
            writer.transport.abort()
            self.done["views opened and left"] += 1

    # ── HTTP
    async def _request(
        self, method: str, path: str, extra: str, form: str = "", host: str = ""
    ) -> int | str:
        """Send a request. Returns the status of the reply. Raises ConnectionError if none came."""
        headers = (
            f"{extra}Content-Type: {FORM}\r\nContent-Length: {len(form)}\r\nConnection: close\r\n"
        )
        reader, writer = await self._open(self._head(method, path, headers, host) + form.encode())
        line = await reader.readline()
        writer.close()
        if not line:
            raise ConnectionError
        return int(line.split()[1])

    async def _open(self, first: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self._connect(self._address)
        writer.write(first)
        return reader, writer

    async def _connect(self, address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._port, local_addr=(address, 0))

    def _head(self, method: str, path: str, extra: str = "", host: str = "") -> bytes:
        host = host or self._host
        return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{extra}\r\n".encode()


KINDS: dict[str, Callable[[PageVisitor], Awaitable[None]]] = {
    "look": PageVisitor.look,
    "guess": PageVisitor.guess,
    "rebind": PageVisitor.rebind,
    "drip": PageVisitor.drip,
    "crowd": PageVisitor.crowd,
    "upload": PageVisitor.upload,
    "hoard": PageVisitor.hoard,
    "flicker": PageVisitor.flicker,
}
VIEWERS = ("look",) * 3
ATTACK = ("guess", "guess", "rebind", "crowd", "upload", "hoard", "flicker", *("drip",) * 20)


async def _repeat(visitor: PageVisitor, kind: str) -> None:
    """Repeat a client for ever; when it is refused or disconnected, it retries."""
    while True:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await KINDS[kind](visitor)
        visitor.done[f"{kind}, refused or let go"] += 1
        await asyncio.sleep(BACK_OFF_S)


async def visit(port: int, cookie: str, kinds: list[str]) -> Counter[str]:
    """Run all clients until standard input ends. Returns the sums of their counts."""
    visitors = [PageVisitor(port, cookie, f"127.0.0.{2 + n}") for n in range(len(kinds))]
    tasks = [
        asyncio.ensure_future(_repeat(visitor, kind))
        for visitor, kind in zip(visitors, kinds, strict=True)
    ]
    await asyncio.to_thread(sys.stdin.buffer.read)
    for task in tasks:
        task.cancel()
    done: Counter[str] = Counter()
    for visitor in visitors:
        done.update(visitor.done)
    return done


if __name__ == "__main__":
    os.nice(10)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    found = asyncio.run(visit(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
    print(json.dumps(dict(sorted(found.items()))))
