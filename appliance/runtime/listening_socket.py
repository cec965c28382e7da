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
AGAIN_S = 1.0  # between two tries

log = logging.getLogger("listening")


def set_up_is_open(folder: Path = network_status.FOLDER) -> bool:
    """The box's own Wi-Fi is open, whose page needs the port (provision/setup_server.py)."""
    return bool(network_status.read_status(folder).setup)


def try_listen(address: tuple[str, int]) -> socket.socket:
    """Raises OSError where the port is taken, or the address is none of this machine's."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
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
