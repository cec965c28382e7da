"""The browsers with an event stream. Events in, bytes of server-sent events out.

Sending never blocks: a browser that does not fetch its events is disconnected (http_server.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from appliance.page.live import Event

MOST = 12  # browsers at once


@dataclass(eq=False)
class Viewer:
    """One stream. `access`: id of the browser. `send`: sends bytes; b"" disconnects."""

    access: str
    words: bool
    send: Callable[[bytes], None]


class Viewers:
    def __init__(self) -> None:
        self._viewers: set[Viewer] = set()

    @property
    def any(self) -> bool:
        return bool(self._viewers)

    @property
    def words(self) -> bool:
        """Whether a browser has requested the text of answers."""
        return any(viewer.words for viewer in self._viewers)

    @property
    def full(self) -> bool:
        return len(self._viewers) >= MOST

    def add(self, viewer: Viewer) -> None:
        self._viewers.add(viewer)

    def remove(self, viewer: Viewer) -> None:
        self._viewers.discard(viewer)

    def disconnect(self, access: str) -> None:
        """Disconnect the streams of a browser whose access was revoked."""
        for viewer in [one for one in self._viewers if one.access == access]:
            self._viewers.discard(viewer)
            viewer.send(b"")

    def show(self, events: list[Event], *, words: bool = False) -> None:
        """Send events to all browsers; with `words` only to those that requested text."""
        if not events or not self._viewers:
            return
        data = encoded(events)
        for viewer in list(self._viewers):
            if viewer.words or not words:
                viewer.send(data)


def encoded(events: list[Event]) -> bytes:
    """Encode events as one server-sent event (WHATWG HTML)."""
    return b"data: " + msgspec.json.encode(events) + b"\n\n"
