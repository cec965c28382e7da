"""Who looks: browsers with a stream of events. Events in, bytes of server-sent events out.

Nobody is waited for: a browser that does not fetch its events is disconnected (http_server.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from appliance.page.live import Event

MOST = 12  # browsers at once


@dataclass(eq=False)
class Viewer:
    """`access`: by which it was let in. `send`: hands bytes over; b"": the last."""

    access: str
    words: bool
    send: Callable[[bytes], None]


class Viewers:
    def __init__(self) -> None:
        self._now: set[Viewer] = set()

    @property
    def any(self) -> bool:
        return bool(self._now)

    @property
    def words(self) -> bool:
        """Somebody has asked for words."""
        return any(viewer.words for viewer in self._now)

    @property
    def full(self) -> bool:
        return len(self._now) >= MOST

    def add(self, viewer: Viewer) -> None:
        self._now.add(viewer)

    def remove(self, viewer: Viewer) -> None:
        self._now.discard(viewer)

    def disconnect(self, access: str) -> None:
        """Those that were let in by what is revoked now."""
        for viewer in [one for one in self._now if one.access == access]:
            self._now.discard(viewer)
            viewer.send(b"")

    def show(self, events: list[Event], *, words: bool = False) -> None:
        """To all; with `words` to those that asked for words."""
        if not events or not self._now:
            return
        data = encoded(events)
        for viewer in list(self._now):
            if viewer.words or not words:
                viewer.send(data)


def encoded(events: list[Event]) -> bytes:
    """One event of the stream (WHATWG HTML, server-sent events)."""
    return b"data: " + msgspec.json.encode(events) + b"\n\n"
