"""The keyboard panel's wire: a Unix socket (mode 0600) to a panel without pins.

In: one word a datagram, of `WORDS`. Out, to whoever sent the last one: the light, as often as it
changes: its pattern's name and red, green, blue in percent. Tests press through it, too.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

from appliance.errors import PanelError
from appliance.panel.light import Colour
from appliance.settings import Settings

# Word → input, and whether it is pressed or off from then on.
WORDS: dict[str, tuple[str, bool]] = {
    "press": ("button", True),
    "release": ("button", False),
    "off": ("mute_switch", True),
    "on": ("mute_switch", False),
}
HELLO = "hello"  # moves nothing; who says it is shown the light


def place(settings: Settings) -> Path:
    return settings.state_path() / "panel"


class KeyboardSocket:
    """The panel's end. Nothing here waits. Raises PanelError where there can be no socket."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._path = path
        self._watcher: str | bytes | None = None
        mask = os.umask(0o177)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # of a panel that was killed; the table has only one
            self._socket.bind(str(path))
        except OSError as error:
            raise PanelError(
                f"{path}: no keyboard panel can be there ({error.strerror})."
            ) from error
        finally:
            os.umask(mask)

    def fileno(self) -> int:
        return self._socket.fileno()

    def pop_words(self) -> list[str]:
        """Those of `WORDS` that were sent since the last look, in order; HELLO also."""
        found: list[str] = []
        while True:
            try:
                data, sender = self._socket.recvfrom(64)
            except BlockingIOError:
                return found
            word = data.decode("ascii", "replace")
            if word in WORDS or word == HELLO:
                self._watcher = sender or None
                found.append(word)

    def show(self, name: str, colour: Colour) -> None:
        if self._watcher is None:
            return
        percent = " ".join(str(round(100 * part)) for part in colour)
        try:
            self._socket.sendto(f"{name} {percent}".encode(), self._watcher)
        except OSError:  # the terminal was closed
            self._watcher = None

    def close(self) -> None:
        self._socket.close()
        self._path.unlink(missing_ok=True)
