"""What the process of a row may do: keep the network, or make Unix sockets."""

from __future__ import annotations

from collections.abc import Callable

from appliance.runtime.sandbox import UnixSockets
from appliance.settings import Settings

# Rows that keep the network, and when. The others give it up as they start (sandbox.py).
NETWORKED: dict[str, Callable[[Settings], bool]] = {
    "link": lambda settings: True,
    "thinker": lambda settings: bool(settings.thinking.remote.url),
}

# Of those that gave it up, who may make Unix sockets (sandbox.py). Seen with strace(1): no other
# part makes one, and what the speaker starts (espeak-ng) looks for a sound server in vain.
UNIX_SOCKETS: dict[str, Callable[[Settings], UnixSockets]] = {
    "conductor": lambda settings: "door",  # dialog/control_socket.py
    # Sound servers, and ALSA's dmix and dsnoop, join those who share a card by Unix sockets.
    "capture": lambda settings: "any",
    "playback": lambda settings: "any",
    "panel": lambda settings: "any" if settings.panel.gpio == "keyboard" else "none",
}


# Rows that listen on a socket, which is made for them before they give their network up.
LISTENS: dict[str, Callable[[Settings], tuple[tuple[str, int], ...]]] = {
    "page": lambda settings: settings.page.addresses,
}


def listens_on(name: str, settings: Settings) -> tuple[tuple[str, int], ...]:
    """Addresses and ports that the process of that name listens on; the first is the one that it
    cannot do without."""
    return LISTENS[name](settings) if name in LISTENS else ()


def unix_sockets(name: str, settings: Settings) -> UnixSockets:
    """What the process of that name may do with Unix sockets, if it has given up the network."""
    return UNIX_SOCKETS[name](settings) if name in UNIX_SOCKETS else "none"


def networked(name: str, settings: Settings) -> bool:
    """Whether the process of that name has a use for the network."""
    return name in NETWORKED and NETWORKED[name](settings)
