"""Creates the sockets on which a part listens, before it gives up the network (sandbox.py).

Afterwards the part can only accept connections on them.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from appliance.runtime import network_status

BACKLOG = 32  # connections that wait to be accepted
# Socket buffers of each connection, per direction: Linux doubles the value, and without it lets
# them grow to megabytes.
BUFFER_BYTES = 65_536
# A peer that vanished (a closed laptop) is dropped after a minute: by the user timeout while data
# is unacknowledged, else by keep-alive probes (tcp(7)).
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
AGAIN_S = 1.0  # between two attempts

log = logging.getLogger("listening")


def set_up_is_open(folder: Path = network_status.FOLDER) -> bool:
    """Whether the box's own Wi-Fi is open, whose page needs the port
    (provision/setup_server.py)."""
    return bool(network_status.read_status(folder).setup)


def try_listen(address: tuple[str, int]) -> socket.socket:
    """Listen on `address`; accepted connections inherit the options.

    Raises OSError if the port is in use, or the address does not belong to this machine."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        for option in _OPTIONS:
            listener.setsockopt(*option)
        listener.bind(address)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def listen(
    address: tuple[str, int],
    *,
    wait: Callable[[float], bool],
    busy: Callable[[], bool] = set_up_is_open,
) -> socket.socket | None:
    """Listen on `address`, retrying until it succeeds. None: `wait` returned True.

    `wait`: called between two attempts with the pause in seconds; True when the part is to end.
    """
    logged = ""
    while True:
        problem = "the set-up Wi-Fi is open" if busy() else ""
        if not problem:
            try:
                return try_listen(address)
            except OSError as error:
                problem = error.strerror or str(error)
        if problem != logged:
            logged = problem
            log.warning("nothing listens on %s port %d (%s)", *address, problem)
        if wait(AGAIN_S):
            return None


def listen_on_all(
    addresses: Sequence[tuple[str, int]],
    *,
    wait: Callable[[float], bool],
    busy: Callable[[], bool] = set_up_is_open,
) -> list[socket.socket]:
    """Listen on the first address, with retries, and then on each other one, with one attempt.
    []: `wait` returned True."""
    first = listen(addresses[0], wait=wait, busy=busy)
    if first is None:
        return []
    listeners = [first]
    for address in addresses[1:]:
        try:
            listeners.append(try_listen(address))
        except OSError as error:
            log.warning("nothing listens on %s port %d (%s)", *address, error.strerror)
    return listeners
