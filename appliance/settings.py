"""Settings: typed, frozen, loaded once and checked at load.

In: the vendor's `defaults.yaml`, then the owner's file over it. Out: one `Settings`.
Every key has its unit and its reason in `defaults.yaml`; the types and ranges are here.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import yaml

from appliance.errors import SettingsError

DEFAULTS = Path(__file__).with_name("defaults.yaml")
SYSTEM_FILE = Path("/etc/interlude/settings.yaml")


def user_file() -> Path:
    """The owner's own file on a development machine, by the XDG base directory rules."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "interlude" / "settings.yaml"


Ratio = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=60_000)]
Positive = Annotated[int, msgspec.Meta(gt=0)]
Kind = TypeVar("Kind")


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A group of settings: unknown keys are refused, values never change after load."""


class Card(Section, frozen=True):
    """The sound card. Microphone and loudspeaker must share one clock."""

    capture: str
    playback: str
    rate_hz: Literal[0, 16000, 32000, 48000, 96000]
    period_ms: Annotated[int, msgspec.Meta(ge=2, le=20)]
    periods: Annotated[int, msgspec.Meta(ge=2, le=8)]
    reserve_ms: Annotated[int, msgspec.Meta(ge=1, le=100)]
    channels: Annotated[int, msgspec.Meta(ge=0, le=2)]
    ramp_ms: Annotated[int, msgspec.Meta(ge=1, le=5)]


class Echo(Section, frozen=True):
    """Echo cancellation."""

    canceller: Literal["auto", "kalman", "speex", "hardware", "none"]
    tail_ms: Annotated[int, msgspec.Meta(ge=20, le=500)]


class Onset(Section, frozen=True):
    """The fast gate that pauses at once and the confirmation that must follow."""

    above_noise_db: Annotated[float, msgspec.Meta(ge=3, le=40)]
    above_echo_db: Annotated[float, msgspec.Meta(ge=0, le=40)]
    steps: Annotated[int, msgspec.Meta(ge=1, le=10)]
    confirm_ms: Milliseconds


class Turn(Section, frozen=True):
    """When the owner's speech counts as an utterance, and when it is over."""

    probability: Ratio
    release_probability: Ratio
    start_ms: Milliseconds
    end_ms: Milliseconds
    preroll_ms: Milliseconds
    piece_s: Annotated[float, msgspec.Meta(ge=5, le=30)]


class Verdict(Section, frozen=True):
    """Backchannel, interruption or noise: when to decide, and how sure to be."""

    first_ms: Milliseconds
    every_ms: Annotated[int, msgspec.Meta(ge=10, le=500)]
    deadline_ms: Milliseconds
    interruption: Ratio
    backchannel: Ratio


Phrases = tuple[str, ...]
_PHRASE = re.compile(r"[a-z]+(['-][a-z]+)*( [a-z]+(['-][a-z]+)*)*")


class Words(Section, frozen=True):
    """Words said over the box that decide by themselves. Lower case, each in one list."""

    recogniser: Literal["auto", "sherpa", "pocketsphinx", "none"]
    yields: Phrases = msgspec.field(name="yield")
    carry_on: Phrases
    stop: Phrases

    def __post_init__(self) -> None:
        lists = {"yield": self.yields, "carry_on": self.carry_on, "stop": self.stop}
        for name, phrases in lists.items():
            if odd := [p for p in phrases if not _PHRASE.fullmatch(p)]:
                raise ValueError(f"`{odd[0]}` in the list `{name}` is not words in lower case")
            if twice := [p for i, p in enumerate(phrases) if p in phrases[:i]]:
                raise ValueError(f"`{twice[0]}` is twice in the list `{name}`")
        if both := sorted({*self.yields, *self.stop}.intersection(self.carry_on)):
            raise ValueError(f"`{both[0]}` cannot both interrupt and be in the list `carry_on`")


class Wake(Section, frozen=True):
    """Mode wake_word."""

    phrase: str
    sensitivity: Ratio
    open_s: Annotated[float, msgspec.Meta(ge=0, le=120)]
    barge_in: bool

    def __post_init__(self) -> None:
        if not _PHRASE.fullmatch(self.phrase):
            raise ValueError(f"the phrase `{self.phrase}` is not words in lower case")


class PushToTalk(Section, frozen=True):
    """Mode push_to_talk."""

    press: Literal["hold", "toggle"]
    voice_interrupts: bool


class Hearing(Section, frozen=True):
    echo: Echo
    onset: Onset
    turn: Turn
    verdict: Verdict
    words: Words
    wake: Wake
    push_to_talk: PushToTalk


class Remote(Section, frozen=True):
    """An OpenAI-compatible server with audio input, in place of the local model."""

    url: str
    model: str
    key_file: str
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=600)]


class Thinking(Section, frozen=True):
    """The language model."""

    model: str
    remote: Remote
    persona: str
    context_tokens: Annotated[int, msgspec.Meta(ge=512, le=131_072)]
    history_tokens: Annotated[int, msgspec.Meta(ge=128, le=131_072)]
    answer_tokens: Annotated[int, msgspec.Meta(ge=8, le=4096)]
    threads: Annotated[int, msgspec.Meta(ge=0, le=64)]
    temperature: Annotated[float, msgspec.Meta(ge=-1, le=2)]
    top_p: Annotated[float, msgspec.Meta(ge=-1, le=1)]
    top_k: Annotated[int, msgspec.Meta(ge=-1, le=1000)]
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]


class Speaking(Section, frozen=True):
    """The voice."""

    voice: str
    volume: Ratio
    words_per_minute: Annotated[int, msgspec.Meta(ge=80, le=400)]
    while_judging: Literal["pause", "duck"]
    duck_db: Annotated[float, msgspec.Meta(ge=-40, le=-6)]
    resume_ramp_ms: Annotated[int, msgspec.Meta(ge=1, le=25)]
    rewind_after_s: Annotated[float, msgspec.Meta(ge=0, le=60)]
    grace_ms: Milliseconds
    chime: bool


class Memory(Section, frozen=True):
    """What is kept of conversations."""

    keep_turns: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
    recall_turns: Annotated[int, msgspec.Meta(ge=0, le=200)]


Topic = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$")]


class Link(Section, frozen=True):
    """The house: an MQTT broker, and Home Assistant through it."""

    broker: str
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)]
    user: str
    password_file: str
    tls: bool
    ca_file: str
    certificate_file: str
    key_file: str
    name: Annotated[str, msgspec.Meta(max_length=60)]
    id: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{0,32}$")]
    base: Topic
    discovery: bool
    discovery_prefix: Topic
    interval_s: Annotated[int, msgspec.Meta(ge=30, le=3600)]
    unmute: bool
    words: bool


class Panel(Section, frozen=True):
    """Button, mute switch and light on the housing."""

    gpio: Literal["none", "header", "keyboard"]
    mute_switch: bool
    light: Literal["rgb", "single", "none"]
    brightness: Ratio
    night_brightness: Ratio
    night: Annotated[str, msgspec.Meta(pattern=r"^((^|-)([01][0-9]|2[0-3]):[0-5][0-9]){2}$|^$")]


class ProcessOverride(Section, frozen=True):
    """The owner's changes to one row of the process table; absent fields keep the table's."""

    cores: tuple[Annotated[int, msgspec.Meta(ge=0, le=1023)], ...] | None = None
    priority: Annotated[int, msgspec.Meta(ge=0, le=90)] | None = None
    nice: Annotated[int, msgspec.Meta(ge=-20, le=19)] | None = None


class Settings(Section, frozen=True):
    """Everything an owner may change."""

    mode: Literal["open", "push_to_talk", "wake_word"]
    state_dir: str
    card: Card
    hearing: Hearing
    thinking: Thinking
    speaking: Speaking
    memory: Memory
    link: Link
    panel: Panel
    processes: dict[str, ProcessOverride]
    log: Literal["debug", "info", "warning", "error"]

    def state_path(self) -> Path:
        """Where models and memory live: the setting, systemd's StateDirectory=, or XDG's."""
        if self.state_dir:
            return Path(self.state_dir).expanduser()
        if systemd := os.environ.get("STATE_DIRECTORY"):
            return Path(systemd.split(":")[0])
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        return Path(base) / "interlude"


def owner_file() -> Path | None:
    """The owner's settings file in effect when none is named: the user's own, or the system's."""
    return next((p for p in (user_file(), SYSTEM_FILE) if p.is_file()), None)


def load(path: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings in effect: defaults, then the owner's file, then `overrides` (nested keys).

    Raises SettingsError for a file that is missing, is no YAML, or holds a key or value that
    does not belong there.
    """
    merged = _read(DEFAULTS)
    path = path if path is not None else owner_file()
    if path is not None:
        _merge(merged, _read(path), str(path))
    if overrides:
        _merge(merged, overrides, "the overrides")
    where = str(path) if path is not None else "the settings"
    for name, change in merged["processes"].items():  # by name: msgspec calls it `processes[...]`
        _convert(change, ProcessOverride, where, f"processes.{name}.")
    return _convert(merged, Settings, where)


def changed(settings: Settings) -> dict[str, Any]:
    """The settings that differ from the defaults, as dotted key → value."""
    default = dict(_flatten(msgspec.to_builtins(load_defaults())))
    return {k: v for k, v in _flatten(msgspec.to_builtins(settings)) if default.get(k) != v}


def load_defaults() -> Settings:
    """The vendor's settings, without any owner's."""
    return msgspec.convert(_read(DEFAULTS), Settings)


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: is not UTF-8 text.") from error
    try:
        loaded = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # also: a 13th month, [[[[…
        mark = getattr(error, "problem_mark", None)
        line = f" near line {mark.line + 1}" if mark else ""
        remedy = "Check the indentation there."
        raise SettingsError(f"{path}: is not YAML{line}.", remedy) from error
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise SettingsError(f"{path}: must hold `key: value` lines, not a {type(loaded).__name__}.")
    return loaded


def _convert(tree: Any, kind: type[Kind], source: str, prefix: str = "") -> Kind:
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        problem = f"{source}: {_in_words(error, prefix)}."
        quotes = "`str`, got `bool`" in str(error)  # YAML's yes, no, on and off
        remedy = 'Put "yes" and "no" in quotes.' if quotes else "See `interlude config`."
        raise SettingsError(problem, remedy) from error


def _merge(base: dict[str, Any], over: Mapping[str, Any], source: str, prefix: str = "") -> None:
    for key, value in over.items():
        free = prefix == "processes."  # rows are named after processes, checked at convert
        if key not in base and not free:
            near = difflib.get_close_matches(str(key), base, n=1)
            hint = f"Did you mean `{prefix}{near[0]}`?" if near else "See `interlude config`."
            raise SettingsError(f"{source}: there is no setting `{prefix}{key}`.", hint)
        if isinstance(base.get(key), dict):
            if not isinstance(value, Mapping):
                raise SettingsError(f"{source}: `{prefix}{key}` must hold `key: value` lines.")
            _merge(base[key], value, source, f"{prefix}{key}.")
        else:
            base[key] = value


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _in_words(error: msgspec.ValidationError, prefix: str) -> str:
    """msgspec says 'Expected `int`, got `str` - at `$.card.period_ms`'; owners read it reversed."""
    problem, _, where = str(error).partition(" - at ")
    key = f"{prefix}{where.strip('`').removeprefix('$.')}".rstrip(".") or "the file"
    return f"`{key}`: {problem[:1].lower()}{problem[1:]}"
