"""Which client connections the HTTP server holds, and which one it drops for a new one. Pure.

A new client always gets a place while clients without access hold any. So a stranger who opens many
connections, from many addresses too, displaces his own, and neither a paired browser nor the next
new one.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

MOST_CONNECTIONS = 64
MOST_UNPAIRED = 48  # the other places are for clients whose last request had a valid cookie
MOST_OF_ONE = 16  # of an IPv4 address or an IPv6 /64 without access; a browser opens up to 6


class Place(Protocol):
    """A connection. `network`: of network_of. `paired`: its last request had a valid cookie.
    `waits`: no reply is being sent on it."""

    network: str
    paired: bool

    @property
    def waits(self) -> bool: ...
    def abort(self) -> None: ...


Held = TypeVar("Held", bound=Place)


class ConnectionPlaces(Generic[Held]):
    """The connections that the server holds."""

    def __init__(self) -> None:
        self._held: dict[Held, None] = {}  # the oldest first

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Held]:
        return iter(list(self._held))

    def add(self, new: Held) -> bool:
        """Hold a new connection; another one may be dropped for it. False if there is no place."""
        unpaired = [each for each in self._held if not each.paired]
        own = [each for each in unpaired if each.network == new.network]
        if len(own) >= MOST_OF_ONE:
            self._drop(own)
        elif len(unpaired) >= MOST_UNPAIRED or len(self._held) >= MOST_CONNECTIONS:
            self._drop(unpaired)
        if len(self._held) >= MOST_CONNECTIONS:
            return False
        self._held[new] = None
        return True

    def remove(self, connection: Held) -> None:
        self._held.pop(connection, None)

    def _drop(self, connections: list[Held]) -> None:
        """Drop one of the network that has the most: the oldest that waits for a request, or else
        the oldest."""
        if connections:
            counts = Counter(each.network for each in connections)
            found = min(connections, key=lambda each: (-counts[each.network], not each.waits))
            self.remove(found)
            found.abort()


def network_of(client: str) -> str:
    """The IPv4 address of a client, or the /64 of its IPv6 address, of which one machine has as
    many as it likes; "" if it is not in the local network."""
    try:
        address = ipaddress.ip_address(client.partition("%")[0])
    except ValueError:
        return ""
    mapped = getattr(address, "ipv4_mapped", None) or address
    if not (mapped.is_private or mapped.is_loopback or mapped.is_link_local):
        return ""
    return str(mapped if mapped.version == 4 else ipaddress.ip_network((mapped, 64), strict=False))
