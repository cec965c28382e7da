"""A TCP port of this machine for a program that is started at once.

The kernel gives ports of its own range to connections that go out: one of those may be taken again
before the program listens there, on a machine where much is connected at the same time. So it is a
port below that range (ip_local_port_range in ip(7)), drawn at random, since several programs may
look for one at once.
"""

from __future__ import annotations

import random
import socket
from pathlib import Path

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST = 10_000  # services that have a port of their own have mostly a lower one
FEWEST = 10_000  # to draw from, also where the kernel's range begins low


def free_port() -> int:
    """One that nobody listens at, on 127.0.0.1."""
    above = max(int(RANGE.read_text().split()[0]), LOWEST + FEWEST)
    while True:
        port = random.SystemRandom().randrange(LOWEST, above)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
