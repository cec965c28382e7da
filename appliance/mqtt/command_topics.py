"""Commands from the broker: anybody's bytes in, a typed message or a refusal out. Pure.

Whatever can write to the topics may have written them: each is checked for type, range, length and
rate, and what is wrong with it is told by kind, never by what it said.
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
MOST_BYTES = 4 * MOST_CHARACTERS  # UTF-8 has at most four for each
PRESS = b"PRESS"  # what Home Assistant's buttons send
INSTALL = "install"  # what its update entity sends, as our discovery says

_NUMBER = re.compile(r"[0-9]{1,3}(\.[0-9]{1,6})?")


@dataclass(frozen=True)
class CommandRefusal:
    """Why nothing is done. Two refusals that are equal are of one kind."""

    command: str
    why: str


@dataclass(frozen=True)
class CommandLimits:
    """What this box can be told."""

    voices: tuple[str, ...] = ()
    unmute: bool = True
    button: bool = True


@dataclass(frozen=True)
class InstallCommand:
    """Install the release that lies ready: for the link itself, which asks for it."""


@dataclass(frozen=True)
class LanguageCommand:
    """Speak that language from the next start on: for the link itself, which has it written."""

    language: str


CommandResult = Message | InstallCommand | LanguageCommand


class _BadPayload(ValueError):
    """The kind of what is wrong with a payload."""


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
    """One of `options`, to the letter. Raises _BadPayload."""
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
    """One topic under the box's own. `burst` at once, then one every `every_s` seconds.

    `ready`: how many may come right after the start.
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
    # None right after the start: an automation that restarts the box must not do so for ever.
    CommandTopic("cmd/restart", _pressed(Restart()), 1, 60.0, ready=0),
    CommandTopic("cmd/install", _install, 1, 60.0),
)


@dataclass
class CommandFilter:
    """Lets commands through that are well-formed and not too many. `now_s` never runs backwards."""

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
        """The message of command `name`. Raises CommandRejected."""
        command = next((command for command in COMMANDS if command.name == name), None)
        if command is None:
            raise CommandRejected(CommandRefusal("?", "no such command"))
        if retained:  # given to whoever came up before; it would come again at every connect
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
    """A command that is not carried out."""

    def __init__(self, refusal: CommandRefusal) -> None:
        super().__init__(f"{refusal.command}: {refusal.why}")
        self.refusal = refusal
