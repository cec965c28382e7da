"""`interlude say|ask|stop|mute|volume|voice|mode`: sends a command to the box that runs here."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from appliance.dialog import control_socket
from appliance.errors import BadMessage, ControlError, NotRunning
from appliance.messages.commands import (
    Ask,
    CommandRefused,
    Forget,
    Forgotten,
    ModeName,
    Mute,
    Say,
    SetMode,
    SetVoice,
    SetVolume,
    StateChanged,
    StopSpeaking,
)
from appliance.messages.limits import MAX_BYTES, MAX_WORDS
from appliance.messages.registry import Mail, Message, decode, encode
from appliance.settings import Settings

MOST_LETTERS = 100  # in a voice's name
PATIENCE_S = 5.0  # timeout; a conductor that is being restarted answers within this
AGAIN_S = 0.02  # between two tries to connect while the socket's queue is full
FORGET_PATIENCE_S = 120.0  # timeout; a worn card may stall for 5 s at each of some twenty writes
STRANGE = "Interlude is running, but this command does not understand its reply."


class BadArguments(ControlError):
    """Arguments that a command does not accept."""

    exit_code = 64  # EX_USAGE


def cli(settings: Settings, verb: str, words: list[str]) -> int:
    """Send a command to the box and print its state afterwards. Returns the exit code. Raises
    ControlError."""
    state = send_command(settings, _MESSAGES[verb](" ".join(words)))
    sys.stdout.write(f"The box is {state.state}.\n")
    return 0


def send_command(settings: Settings, message: Message) -> StateChanged:
    """Send a command to the box that runs with these settings or as a service. Returns its state.
    Raises ControlError."""
    reply = _ask(settings, message, PATIENCE_S)
    if not isinstance(reply, StateChanged):
        raise ControlError(STRANGE)
    return reply


def forget_conversation(settings: Settings) -> Forgotten:
    """Have the running box erase the conversation's memory. Returns its reply, which says whether
    that failed. Raises ControlError."""
    reply = _ask(settings, Forget(), FORGET_PATIENCE_S)
    if not isinstance(reply, Forgotten):
        raise ControlError(STRANGE)
    return reply


def _ask(settings: Settings, message: Message, patience_s: float) -> Mail:
    for path in control_socket.socket_paths(settings):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.settimeout(patience_s)
            if _connect(connection, path):
                return _exchange(connection, message)
    raise NotRunning("Interlude is not running here.", "`interlude run` starts it.")


def _connect(connection: socket.socket, path: Path) -> bool:
    """Connect, and wait while the socket's queue is full. Returns False if no process listens."""
    deadline_s = time.monotonic() + PATIENCE_S
    try:
        with control_socket.short(path) as address:
            while not _try_connect(connection, address):
                if time.monotonic() > deadline_s:
                    raise ControlError("Interlude has too many waiting commands.", "Try again.")
                time.sleep(AGAIN_S)
    except ControlError:
        raise
    except PermissionError as error:
        remedy = "Ask as that user: `sudo -u interlude interlude …`, or as root."
        raise ControlError(f"{path} belongs to another user.", remedy) from error
    except OSError:
        return False
    return True


def _try_connect(connection: socket.socket, address: str) -> bool:
    """Connect. Returns False if the socket's queue is full: connect(2) fails with EAGAIN then."""
    try:
        connection.connect(address)
    except BlockingIOError:
        return False
    return True


def _exchange(connection: socket.socket, message: Message) -> Mail:
    try:
        connection.send(encode(message))
        reply = decode(connection.recv(MAX_BYTES))
    except (OSError, BadMessage) as error:
        raise ControlError("Interlude is running and does not answer.", "Is it busy?") from error
    if isinstance(reply, CommandRefused):
        raise ControlError(f"Interlude refuses that. {reply.why}")
    return reply


def _mute(words: str) -> Message:
    if words not in ("on", "off", ""):
        raise BadArguments(f"mute: `{words}` should be on or off.")
    return Mute(on=words != "off")


def _volume(words: str) -> Message:
    number = words.removesuffix("%").strip()
    if not (number.isdecimal() and int(number) <= 100):
        raise BadArguments(f"volume: `{words}` should be a number from 0 to 100.")
    return SetVolume(int(number) / 100)


def _voice(words: str) -> Message:
    if not 0 < len(words) <= MOST_LETTERS:
        raise BadArguments(f"voice: `{words[:MOST_LETTERS]}` cannot be a voice's name.")
    return SetVoice(words)


def _mode(words: str) -> Message:
    for name in get_args(ModeName):
        if words.replace("-", "_").replace(" ", "_") == name:
            return SetMode(name)
    raise BadArguments(f"mode: there is no `{words}`.", f"One of {', '.join(get_args(ModeName))}.")


def _text(words: str) -> str:
    if not words.strip():
        raise BadArguments("There are no words in that.")
    if len(words) > MAX_WORDS:
        raise BadArguments(
            f"That is too long: {len(words)} characters.", f"At most {MAX_WORDS} at once."
        )
    if any("\ud800" <= letter <= "\udfff" for letter in words):  # bytes that are not UTF-8
        raise BadArguments("That is not UTF-8 text.")
    return words


_MESSAGES: dict[str, Callable[[str], Message]] = {
    "say": lambda words: Say(_text(words)),
    "ask": lambda words: Ask(_text(words)),
    "stop": lambda words: StopSpeaking(),
    "mute": _mute,
    "volume": _volume,
    "voice": _voice,
    "mode": _mode,
}
