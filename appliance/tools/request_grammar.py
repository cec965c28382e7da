"""What a language's plainest requests are made of: its words, and what stands for them in calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from appliance.tools.spoken_time import TOMORROW
from appliance.tools.tool_call_syntax import ToolCall, Value

Make = Callable[["RequestMatch"], ToolCall | None]
Row = tuple[str, Make]


@dataclass(frozen=True)
class RequestMatch:
    """What a row of the table has found. `words`: the whole request, as it was typed, without what
    is only polite."""

    groups: dict[str, str | None]
    words: str
    grammar: RequestGrammar

    def group(self, name: str) -> str:
        return self.groups.get(name) or ""


@dataclass(frozen=True)
class RequestGrammar:
    """One language. All but `tidy` is asked for small letters, as `fold` writes them.

    rows    the requests; a pattern has to fit all of the words
    tidy    typed text → its words, without what is only polite
    fold    words → the same as the patterns and the functions below spell them
    number  words or digits → the number that they mean
    minutes  a length of time → minutes
    clock   a time of day → "07:30", "tomorrow 07:30"
    """

    rows: tuple[Row, ...]
    tidy: Callable[[str], str]
    fold: Callable[[str], str]
    number: Callable[[str], float | None]
    minutes: Callable[[str], float | None]
    clock: Callable[[str], str | None]
    _rows: list[tuple[re.Pattern[str], Make]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        compiled = [(re.compile(pattern), make) for pattern, make in self.rows]
        object.__setattr__(self, "_rows", compiled)

    def parse(self, text: str) -> ToolCall | None:
        """What `text` asks for, if that is beyond doubt."""
        words = self.tidy(text)
        folded = self.fold(words)
        for pattern, make in self._rows:
            if found := pattern.fullmatch(folded):
                return make(RequestMatch(found.groupdict(), words, self))
        return None


def always(name: str, **arguments: Value) -> Make:
    """The same call, whatever was found."""
    call = ToolCall(name, dict(arguments))
    return lambda found: call


def timer(found: RequestMatch) -> ToolCall | None:
    """By the group `length`."""
    minutes = found.grammar.minutes(found.group("length"))
    return None if minutes is None else ToolCall("timer", {"minutes": round(minutes, 3)})


def alarm(found: RequestMatch) -> ToolCall | None:
    """By the group `clock`."""
    at = found.grammar.clock(found.group("clock"))
    return None if at is None else ToolCall("alarm", {"at": at})


def house(found: RequestMatch) -> ToolCall | None:
    """The house understands the words themselves."""
    return ToolCall("home", {"command": found.words})


def without(patterns: Iterable[re.Pattern[str]], words: str) -> str:
    """`words` without what `patterns` find, as often as they find something."""
    before = None
    while words != before:
        before = words
        for pattern in patterns:
            words = pattern.sub("", words).strip()
    return words


def at(hour: float | None, minute: float | None, *, tomorrow: bool = False) -> str | None:
    """A time of day as a call has it; None if it is none."""
    if hour is None or minute is None or not (0 <= hour < 24 and 0 <= minute < 60):
        return None
    if hour != int(hour) or minute != int(minute):
        return None
    return f"{TOMORROW if tomorrow else ''}{int(hour):02}:{int(minute):02}"


def before_or_after(hour: float, minutes: float, *, past: bool) -> tuple[float, float]:
    """So many minutes past an hour, or to it. By twelve hours where it was said by twelve."""
    if past:
        return hour, minutes
    return (hour - 1 if hour not in (0, 1) else 23 if hour == 0 else 12), 60 - minutes
