"""Rule-based intents, for when there is no model: words in, a tool call or nothing out. Pure.

A plain table. What it does not have to the word is left to the model, however like it sounds: a
wrong guess is worse than "ask me again in a moment".
"""

from __future__ import annotations

import re
from collections.abc import Callable

from appliance.tools.spoken_numbers import parse_number
from appliance.tools.tool_call_syntax import ToolCall

_UNITS = {"second": 1 / 60, "minute": 1.0, "hour": 60.0}


def _timer(found: re.Match[str]) -> ToolCall | None:
    count = parse_number(found["count"])
    if count is None:
        return None
    minutes = count * _UNITS[found["unit"]]
    return ToolCall("timer", {"minutes": round(minutes, 3)})


def _always(call: ToolCall) -> Callable[[re.Match[str]], ToolCall | None]:
    return lambda found: call


_LENGTH = r"(?P<count>[a-z0-9. -]+?) (?P<unit>second|minute|hour)s?"

TABLE: tuple[tuple[str, Callable[[re.Match[str]], ToolCall | None]], ...] = (
    (r"what time is it|(what is|what's|tell me) the time", _always(ToolCall("time"))),
    (r"what day is it( today)?|(what is|what's|tell me) (the|today's) date( today)?",
     _always(ToolCall("date"))),
    (rf"(set|start) a timer for {_LENGTH}|(set|start) an? (?P<c2>[a-z0-9-]+) (?P<u2>minute) timer",
     lambda found: _timer(found) if found["count"] else _short_timer(found)),
    (r"(cancel|stop|delete) (the|my) (timer|alarm)", _always(ToolCall("cancel_timer"))),
    (r"(what|which) timers (do i have|are there|are set)|how (long|much time) is left",
     _always(ToolCall("timers"))),
    (r"louder|speak up|turn (it|the volume) up|volume up",
     _always(ToolCall("volume", {"change": "up"}))),
    (r"quieter|softer|turn (it|the volume) down|volume down",
     _always(ToolCall("volume", {"change": "down"}))),
    (r"(say|repeat) that( again)?|say it again|what did you say", _always(ToolCall("repeat"))),
    (r"forget (that|what i said)", _always(ToolCall("forget"))),
    (r"(turn|switch) (on|off) the [a-z ]{1,60}", lambda found: ToolCall("home", {"command":
    found[0]})),
)  # fmt: skip


def _short_timer(found: re.Match[str]) -> ToolCall | None:
    count = parse_number(found["c2"])
    return None if count is None else ToolCall("timer", {"minutes": round(count, 3)})


_TABLE = [(re.compile(pattern), make) for pattern, make in TABLE]
_AND_A_HALF = re.compile(r"\b(\S+) (hours?|minutes?) and a half\b")
_POLITE = re.compile(r"^(please|hey|okay|can you|could you|would you) | (please|now)$")


def parse_intent(text: str) -> ToolCall | None:
    """What the owner asks for, if that is beyond doubt."""
    words = " ".join(re.sub(r"[^a-z0-9.' -]", " ", text.lower().replace("’", "'")).split())
    words = _AND_A_HALF.sub(r"\1 and a half \2", words.rstrip("."))
    while (shorter := _POLITE.sub("", words)) != words:
        words = shorter
    for pattern, make in _TABLE:
        if found := pattern.fullmatch(words):
            return make(found)
    return None
