"""Parsing of commands from the broker: untrusted bytes in, a typed message or a refusal out. Pure.

Any client of the broker may have written a payload. Each is checked for type, range, length and
rate. A refusal names the kind of error and never contains the payload.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import get_args

from appliance.messages.commands import (
    Ask,
    ListenOnce,
    ModeName,
    Mute,
    Restart,
    Say,
    SetMode,
    SetVoice,
    SetVolume,
    StopSpeaking,
)
from appliance.messages.limits import MAX_WORDS
from appliance.messages.registry import Message
from appliance.mqtt.language_setting import TAKEN
from appliance.plain_text import one_line
from appliance.settings.surroundings import NO_BUTTON
from appliance.token_bucket import TokenBucket

MOST_CHARACTERS = MAX_WORDS  # of a text to say or ask
MOST_BYTES = 4 * MOST_CHARACTERS  # UTF-8 needs at most 4 bytes a character
PRESS = b"PRESS"  # payload of Home Assistant's buttons
INSTALL = "install"  # payload of its update entity, set by our discovery payload

_NUMBER = re.compile(r"[0-9]{1,3}(\.[0-9]{1,6})?")


@dataclass(frozen=True)
class CommandRefusal:
    """Reason why a command is rejected. Equal refusals are logged once."""

    command: str
    why: str


@dataclass(frozen=True)
class CommandLimits:
    """Commands that this box accepts: names of voices, unmuting, and the mode of the button."""

    voices: tuple[str, ...] = ()
    unmute: bool = True
    button: bool = True


@dataclass(frozen=True)
class InstallCommand:
    """Install the release that is ready. The link process requests it; not for the conductor."""


@dataclass(frozen=True)
class LanguageCommand:
    """Use `language` from the next start on. The link process has the setting written."""

    language: str


CommandResult = Message | InstallCommand | LanguageCommand


class _BadPayload(ValueError):
    """A payload that is not valid; the text names the kind of error."""


def _text(payload: bytes) -> str:
    """One line of plain text. Raises _BadPayload."""
    if len(payload) > MOST_BYTES:
        raise _BadPayload(f"longer than {MOST_CHARACTERS} characters")
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _BadPayload("not UTF-8 text") from error
    words = one_line(text)
    if not words:
        raise _BadPayload("empty")
    if len(words) > MOST_CHARACTERS:
        raise _BadPayload(f"longer than {MOST_CHARACTERS} characters")
    return words


def _word(payload: bytes, options: tuple[str, ...]) -> str:
    """The member of `options` that equals the payload exactly. Raises _BadPayload."""
    for option in options:
        if payload == option.encode():
            return option
    raise _BadPayload("none of the options")


def _percent(payload: bytes) -> float:
    """0 to 100. Raises _BadPayload."""
    text = payload.decode("ascii", errors="replace") if len(payload) <= 16 else ""
    if not _NUMBER.fullmatch(text):
        raise _BadPayload("not a number")
    if not 0.0 <= float(text) <= 100.0:
        raise _BadPayload("out of range")
    return float(text)


def _mute(payload: bytes, limits: CommandLimits) -> Message:
    on = _word(payload, ("ON", "OFF")) == "ON"
    if not on and not limits.unmute:
        raise _BadPayload("not allowed: `link.unmute` is false")
    return Mute(on)


def _mode(payload: bytes, limits: CommandLimits) -> Message:
    name = _word(payload, get_args(ModeName))
    if name == "push_to_talk" and not limits.button:
        raise _BadPayload(NO_BUTTON)
    return SetMode(next(mode for mode in get_args(ModeName) if mode == name))


def _install(payload: bytes, limits: CommandLimits) -> CommandResult:
    _word(payload, (INSTALL,))
    return InstallCommand()


def _language(payload: bytes, limits: CommandLimits) -> CommandResult:
    return LanguageCommand(_word(payload, TAKEN))


def _pressed(message: Message) -> Callable[[bytes, CommandLimits], Message]:
    def read(payload: bytes, limits: CommandLimits) -> Message:
        if payload not in (PRESS, b""):
            raise _BadPayload("no press")
        return message

    return read


@dataclass(frozen=True)
class CommandTopic:
    """One command topic below the box's root, with its rate limit: `burst` messages at once, then
    one every `every_s` seconds.

    `ready`: how many are accepted right after the start; None: `burst`.
    """

    name: str
    read: Callable[[bytes, CommandLimits], CommandResult]
    burst: int
    every_s: float
    ready: int | None = None


COMMANDS: tuple[CommandTopic, ...] = (
    CommandTopic("set/mute", _mute, 5, 1.0),
    CommandTopic(
        "set/volume", lambda p, _: SetVolume(_percent(p) / 100), 20, 0.2
    ),  # a slider, dragged
    CommandTopic("set/mode", _mode, 5, 1.0),
    CommandTopic("set/voice", lambda p, limits: SetVoice(_word(p, limits.voices)), 3, 5.0),
    CommandTopic("set/language", _language, 3, 5.0),
    CommandTopic("cmd/listen", _pressed(ListenOnce()), 5, 1.0),
    CommandTopic("cmd/stop", _pressed(StopSpeaking()), 10, 0.2),
    CommandTopic("cmd/say", lambda p, _: Say(_text(p), chime=True), 5, 2.0),
    CommandTopic("cmd/ask", lambda p, _: Ask(_text(p)), 5, 2.0),
    # ready=0: an automation that restarts the box at each start must not cause an endless loop.
    CommandTopic("cmd/restart", _pressed(Restart()), 1, 60.0, ready=0),
    CommandTopic("cmd/install", _install, 1, 60.0),
)


@dataclass
class CommandFilter:
    """Accepts commands that are well-formed and within the rate limits. `now_s` is monotonic."""

    limits: CommandLimits
    now_s: float
    _buckets: dict[str, TokenBucket] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for command in COMMANDS:
            self._buckets[command.name] = TokenBucket(
                command.burst, 1 / command.every_s, self.now_s, ready=command.ready
            )

    def parse(
        self, name: str, payload: bytes, now_s: float, *, retained: bool = False
    ) -> CommandResult:
        """Return the message for command `name`. Raises CommandRejected."""
        command = next((command for command in COMMANDS if command.name == name), None)
        if command is None:
            raise CommandRejected(CommandRefusal("?", "no such command"))
        if retained:  # the broker would deliver it again at every connect
            raise CommandRejected(
                CommandRefusal(name, "retained: publish commands without the retain flag")
            )
        if not self._buckets[name].try_spend(now_s):
            raise CommandRejected(CommandRefusal(name, "too often"))
        try:
            return command.read(payload, self.limits)
        except _BadPayload as wrong:
            raise CommandRejected(CommandRefusal(name, str(wrong))) from wrong


class CommandRejected(Exception):
    """Raised for a command that is not carried out; `refusal` has the reason."""

    def __init__(self, refusal: CommandRefusal) -> None:
        super().__init__(f"{refusal.command}: {refusal.why}")
        self.refusal = refusal
