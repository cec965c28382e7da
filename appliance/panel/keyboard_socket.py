"""The keyboard panel: a Unix socket (mode 0600) by which a terminal presses and sees the light.

In: one word of `WORDS` per datagram. Out, to the sender of the last one: each change of the light,
as the pattern's name and red, green, blue in percent. Tests press through it, too.
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
HELLO = "hello"  # presses nothing; its sender gets the light
NAME = "panel/keyboard"  # of the socket, in the state folder


def place(settings: Settings) -> Path:
    return settings.state_path() / NAME


class KeyboardSocket:
    """The panel's end. No method blocks. Raises PanelError if the socket cannot be opened."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._path = path
        self._watcher: str | bytes | None = None
        mask = os.umask(0o177)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # left by a panel that was killed; only one runs
            self._socket.bind(str(path))
        except OSError as error:
            raise PanelError(
                f"{path}: the keyboard panel's socket cannot be opened ({error.strerror})."
            ) from error
        finally:
            os.umask(mask)

    def fileno(self) -> int:
        return self._socket.fileno()

    def pop_words(self) -> list[str]:
        """The words of `WORDS`, and HELLO, that were sent since the last call, in order."""
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
