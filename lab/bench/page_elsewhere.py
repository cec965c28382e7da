"""Where the attack of `bench page` goes in its control: another server than the page.

`python -m lab.bench.page_elsewhere`: prints its port, refuses every request, and ends with its
standard input. It has the page's priority and core. The attackers work beside the box as hard as
they do at its page, so what the conversation loses then is not the page's doing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys

MOST_HEAD = 16_384  # bytes of a request that are read, and seconds that it may take
WITHIN_S = 10.0
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


async def refuse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, within_s: float = WITHIN_S
) -> None:
    """Read a request's head, say no, let go."""
    ends = (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
    with contextlib.suppress(*ends):
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), within_s)
        writer.write(REFUSED)
        await writer.drain()
    writer.close()


async def serve() -> None:
    """Until standard input ends."""
    server = await asyncio.start_server(refuse, "127.0.0.1", 0, limit=MOST_HEAD)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.buffer.read)
    server.close()


if __name__ == "__main__":
    os.nice(10)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    asyncio.run(serve())
