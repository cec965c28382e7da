"""`interlude panel`: the keyboard acts as button and switch, a line in the terminal as light.

In: keys. Out: words to the panel's socket (panel/keyboard_socket.py), and the colour that the panel
sends back. A terminal reports that a key goes down, but not that it comes up, so a key stands for a
complete gesture or for one half of it.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import tempfile
import termios
import time
import tty
from pathlib import Path

from appliance.errors import PanelError
from appliance.panel.button import LONG_S
from appliance.panel.keyboard_socket import HELLO, place
from appliance.settings import Settings

TAP_S = 0.1  # from press to release in a short press
HELP = "space: press · h: hold, or let go · 2: double · l: long · m: mute switch · q: quit"

# Key → words with the seconds before each.
KEYS: dict[str, tuple[tuple[float, str], ...]] = {
    " ": ((0.0, "press"), (TAP_S, "release")),
    "2": ((0.0, "press"), (TAP_S, "release"), (TAP_S, "press"), (TAP_S, "release")),
    "l": ((0.0, "press"), (LONG_S + TAP_S, "release")),
}
PAIRS = {"h": ("press", "release"), "m": ("on", "off")}  # the key sends the two in turn
QUIT = ("q", "\x03", "\x04")


def cli_panel(settings: Settings) -> int:
    """Run until the key q. Raises PanelError without a terminal or a running keyboard panel."""
    if settings.panel.gpio != "keyboard":
        raise PanelError("This box has no keyboard panel.", "Set `panel.gpio: keyboard`.")
    if not sys.stdin.isatty():
        raise PanelError("The keyboard panel needs a terminal.")
    with tempfile.TemporaryDirectory() as folder, _connected(settings, Path(folder)) as panel:
        terminal = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        try:
            print(HELP)
            _serve(panel)
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, terminal)
            print("\x1b[0m")
    return 0


def drawn(frame: str) -> str:
    """The terminal's line for a frame of panel/keyboard_socket.py: "name red green blue", in
    percent."""
    name, *percent = frame.split()
    red, green, blue = (round(255 * int(part) / 100) for part in percent)
    return f"\r\x1b[38;2;{red};{green};{blue}m●\x1b[0m {name:<14}"


def _connected(settings: Settings, folder: Path) -> socket.socket:
    panel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    panel.bind(str(folder / "keys"))
    try:
        panel.connect(str(place(settings)))
        panel.send(HELLO.encode())
    except OSError as error:
        panel.close()
        raise PanelError("No box with a keyboard panel runs here.", "`interlude run`") from error
    return panel


def _serve(panel: socket.socket) -> None:
    due: list[tuple[float, str]] = []
    presses = dict.fromkeys(PAIRS, 0)
    while True:
        wait_s = max(0.0, due[0][0] - time.monotonic()) if due else None
        ready, _, _ = select.select([sys.stdin, panel], [], [], wait_s)
        if panel in ready:
            print(drawn(panel.recv(64).decode()), end="", flush=True)
        if sys.stdin in ready:
            key = os.read(sys.stdin.fileno(), 1).decode("ascii", "replace")
            if key in QUIT or not key:
                return
            at = max([time.monotonic(), *(moment for moment, _ in due)])
            for after_s, word in KEYS.get(key, ()):
                at += after_s
                due.append((at, word))
            if key in PAIRS:
                due.append((at, PAIRS[key][presses[key] % 2]))
                presses[key] += 1
        while due and due[0][0] <= time.monotonic():
            _send(panel, due.pop(0)[1])


def _send(panel: socket.socket, word: str) -> None:
    try:
        panel.send(word.encode())
    except OSError as error:
        raise PanelError("The box has ended.", "`interlude run`, then this again.") from error
