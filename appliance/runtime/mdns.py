"""Asks avahi for the box's mDNS name, which may differ from the host name.

If two machines of a network have the same host name, the later one becomes kitchen-2.local. The
query uses avahi's simple protocol on a Unix socket, one line each way, like libnss-mdns.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from pathlib import Path

SOCKET = Path("/run/avahi-daemon/socket")
PATIENCE_S = 6.0  # avahi itself gives up after 5
MOST_BYTES = 1024
# RESOLVE-ADDRESS: interface, protocol (0: IPv4, 1: IPv6), name
_FOUND = re.compile(r"\+ \d+ [01] ([A-Za-z0-9.-]{1,255})\n")


def own_name(addresses: Iterable[str], place: Path = SOCKET) -> str:
    """The mDNS name of one of the box's own addresses; "" if there is none, or no avahi answers."""
    for address in addresses:
        if (found := _FOUND.fullmatch(_query(f"RESOLVE-ADDRESS {address}\n", place))) is not None:
            return found[1]
    return ""


def _query(line: str, place: Path) -> str:
    """Send one line to avahi. Returns its answer; "" if there is none."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE_S)
        try:
            connection.connect(str(place))
            connection.sendall(line.encode("ascii"))
            with connection.makefile("rb") as lines:
                return lines.readline(MOST_BYTES).decode("ascii")
        except (OSError, UnicodeError):
            return ""
