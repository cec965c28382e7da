"""Table of the rights of each part in the network: TCP, Unix sockets, listening sockets."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from appliance.runtime.sandbox import UnixSockets
from appliance.settings import Settings

# Rows that keep the network, and under which settings. The others give it up at their start
# (sandbox.py).
NETWORKED: dict[str, Callable[[Settings], bool]] = {
    "link": lambda settings: True,
    "thinker": lambda settings: bool(settings.thinking.remote.url),
}

# Rows without network that may create Unix sockets (sandbox.py). By strace(1) no other part creates
# one, except espeak-ng below the speaker, which looks for a sound server and does without it.
UNIX_SOCKETS: dict[str, Callable[[Settings], UnixSockets]] = {
    "conductor": lambda settings: "door",  # dialog/control_socket.py
    # Sound servers, and ALSA's dmix and dsnoop, connect the users of a shared card by Unix sockets.
    "capture": lambda settings: "any",
    "playback": lambda settings: "any",
    "panel": lambda settings: "any" if settings.panel.gpio == "keyboard" else "none",
}


# Rows that listen on sockets, which the worker creates before it gives up the network.
LISTENS: dict[str, Callable[[Settings], tuple[tuple[str, int], ...]]] = {
    "page": lambda settings: settings.page.addresses,
}


# TCP ports that a row with the network may connect to (landlock.py). 53: names whose answer is too
# long for UDP.
_DNS = 53
CONNECTS: dict[str, Callable[[Settings], tuple[int, ...]]] = {
    "link": lambda settings: (settings.link.usual_port, _DNS),
    "thinker": lambda settings: (_port_of(settings.thinking.remote.url), _DNS),
}


def _port_of(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def connects_to(name: str, settings: Settings) -> tuple[int, ...]:
    """The TCP ports to which the process `name` may connect."""
    return CONNECTS[name](settings) if networked(name, settings) else ()


def listens_on(name: str, settings: Settings) -> tuple[tuple[str, int], ...]:
    """Addresses and ports on which the process `name` listens; the first one is required."""
    return LISTENS[name](settings) if name in LISTENS else ()


def unix_sockets(name: str, settings: Settings) -> UnixSockets:
    """What the process `name`, if it is without network, may do with Unix sockets."""
    return UNIX_SOCKETS[name](settings) if name in UNIX_SOCKETS else "none"


def networked(name: str, settings: Settings) -> bool:
    """Whether the process `name` keeps the network."""
    return name in NETWORKED and NETWORKED[name](settings)
