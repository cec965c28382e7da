"""Runs the server that is attacked in the control condition of `bench page`, in place of the page.

`python -m lab.bench.page_elsewhere` prints its port, refuses every request, and ends when standard
input ends. It has the page's priority and core. The attackers cause the same load as at the page,
so any effect on the conversation in this condition is not due to the page.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys

MOST_HEAD = 16_384  # limit of a request's header, in bytes
WITHIN_S = 10.0  # timeout of a request
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


async def refuse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, within_s: float = WITHIN_S
) -> None:
    """Read a request's header, answer 403, close the connection."""
    ends = (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
    with contextlib.suppress(*ends):
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), within_s)
        writer.write(REFUSED)
        await writer.drain()
    writer.close()


async def serve() -> None:
    """Serve until standard input ends."""
    server = await asyncio.start_server(refuse, "127.0.0.1", 0, limit=MOST_HEAD)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.buffer.read)
    server.close()


if __name__ == "__main__":
    os.nice(10)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    asyncio.run(serve())
