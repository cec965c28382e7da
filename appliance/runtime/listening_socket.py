"""The socket that a part listens on: made before the part gives its network up (sandbox.py).

Afterwards the part can accept connections there and do nothing else with a network.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from appliance.runtime import network_status

BACKLOG = 32  # connections that wait to be accepted
# What the kernel keeps of each connection, either way: Linux doubles it, and lets it grow to
# megabytes where nothing is said.
BUFFER_BYTES = 65_536
# Who is gone without a word (a laptop that was shut) is let go after a minute: with data on the way
# by the first, without by the others (tcp(7)).
GONE_MS = 60_000
PROBE_AFTER_S, PROBE_EACH_S, PROBES = 30, 10, 3
_OPTIONS = (
    (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1),
    (socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES),
    (socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, GONE_MS),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, PROBE_AFTER_S),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, PROBE_EACH_S),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, PROBES),
)  # fmt: skip
AGAIN_S = 1.0  # between two tries

log = logging.getLogger("listening")


def set_up_is_open(folder: Path = network_status.FOLDER) -> bool:
    """The box's own Wi-Fi is open, whose page needs the port (provision/setup_server.py)."""
    return bool(network_status.read_status(folder).setup)


def try_listen(address: tuple[str, int]) -> socket.socket:
    """What is accepted there inherits its limits.

    Raises OSError where the port is taken, or the address is none of this machine's."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        for option in _OPTIONS:
            made.setsockopt(*option)
        made.bind(address)
        made.listen(BACKLOG)
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made


def listen(
    address: tuple[str, int],
    *,
    wait: Callable[[float], bool],
    busy: Callable[[], bool] = set_up_is_open,
) -> socket.socket | None:
    """Listen on `address` as soon as that can be. None: `wait` said to stop.

    `wait`: called with seconds while it cannot be; True when the part is to end.
    """
    told = ""
    while True:
        problem = "the set-up Wi-Fi is open" if busy() else ""
        if not problem:
            try:
                return try_listen(address)
            except OSError as error:
                problem = error.strerror or str(error)
        if problem != told:
            told = problem
            log.warning("nothing listens on %s port %d (%s)", *address, problem)
        if wait(AGAIN_S):
            return None


def listen_on_all(
    addresses: Sequence[tuple[str, int]],
    *,
    wait: Callable[[float], bool],
    busy: Callable[[], bool] = set_up_is_open,
) -> list[socket.socket]:
    """Likewise, on the first as soon as that can be, and on each other one if it can be had then.
    []: `wait` said to stop."""
    first = listen(addresses[0], wait=wait, busy=busy)
    if first is None:
        return []
    made = [first]
    for address in addresses[1:]:
        try:
            made.append(try_listen(address))
        except OSError as error:
            log.warning("nothing listens on %s port %d (%s)", *address, error.strerror)
    return made
