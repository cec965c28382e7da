"""The parts of a language's table of simple requests: patterns and the calls that they make."""

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
    """The match of a row of the table. `words`: the complete request as typed, without polite
    phrases."""

    groups: dict[str, str | None]
    words: str
    grammar: RequestGrammar

    def group(self, name: str) -> str:
        return self.groups.get(name) or ""


@dataclass(frozen=True)
class RequestGrammar:
    """The requests of one language. All but `tidy` expect small letters in the spelling of `fold`.

    rows    the requests; a pattern must match the complete text
    tidy    typed text → its words without polite phrases
    fold    words → the spelling of the patterns and of the functions below
    number  words or digits → number
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
        """Return the call of the first row that matches all of `text`; None if none does."""
        words = self.tidy(text)
        folded = self.fold(words)
        for pattern, make in self._rows:
            if found := pattern.fullmatch(folded):
                return make(RequestMatch(found.groupdict(), words, self))
        return None


def always(name: str, **arguments: Value) -> Make:
    """Return a function that makes the same call for every match."""
    call = ToolCall(name, dict(arguments))
    return lambda found: call


def timer(found: RequestMatch) -> ToolCall | None:
    """Make a timer call from the group `length`."""
    minutes = found.grammar.minutes(found.group("length"))
    return None if minutes is None else ToolCall("timer", {"minutes": round(minutes, 3)})


def alarm(found: RequestMatch) -> ToolCall | None:
    """Make an alarm call from the group `clock`."""
    at = found.grammar.clock(found.group("clock"))
    return None if at is None else ToolCall("alarm", {"at": at})


def house(found: RequestMatch) -> ToolCall | None:
    """Make a call with the request's words, which the house parses itself."""
    return ToolCall("home", {"command": found.words})


def remove_matches(patterns: Iterable[re.Pattern[str]], words: str) -> str:
    """Remove matches of `patterns` from `words` until there are none."""
    before = None
    while words != before:
        before = words
        for pattern in patterns:
            words = pattern.sub("", words).strip()
    return words


def at(hour: float | None, minute: float | None, *, tomorrow: bool = False) -> str | None:
    """Format a time of day for a call; None if it is invalid."""
    if hour is None or minute is None or not (0 <= hour < 24 and 0 <= minute < 60):
        return None
    if hour != int(hour) or minute != int(minute):
        return None
    return f"{TOMORROW if tomorrow else ''}{int(hour):02}:{int(minute):02}"


def before_or_after(hour: float, minutes: float, *, past: bool) -> tuple[float, float]:
    """Return the time so many minutes past an hour, or before it; before 1 it is 12:xx, before 0
    it is 23:xx."""
    if past:
        return hour, minutes
    return (hour - 1 if hour not in (0, 1) else 23 if hour == 0 else 12), 60 - minutes
