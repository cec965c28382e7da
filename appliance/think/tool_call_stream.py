"""Calls as an OpenAI-compatible server streams them: name first, arguments in pieces of JSON. Pure.

In: the `tool_calls` of one event after the other. Out: calls, each when it is complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from appliance.messages.limits import MOST_ARGUMENTS
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall, Value, plain

MOST_CALLS = 8  # in one answer: more is a model that repeats itself
MOST_NUMBER = 1e9  # nothing that a tool takes comes near it
MOST_LETTERS = 4000  # of one call's arguments: more is no call


@dataclass
class _OpenCall:
    name: str = ""
    arguments: str = ""


class ToolCallStream:
    """Collects calls. A call is complete when the next one begins, or the answer ends."""

    def __init__(self) -> None:
        self._open: dict[int, _OpenCall] = {}

    @property
    def waiting(self) -> bool:
        """A call is complete that nobody has taken."""
        return len(self._open) > 1

    def push(self, deltas: Iterable[Mapping[str, Any]]) -> None:
        """One event's. Raises what server_errors.UNREADABLE names for what is none."""
        for delta in deltas:
            index = int(delta.get("index", 0))
            if index not in self._open and len(self._open) >= MOST_CALLS:
                raise ValueError("too many calls")
            call = self._open.setdefault(index, _OpenCall())
            about = delta.get("function") or {}
            call.name = (call.name + str(about.get("name") or ""))[:MOST_LETTERS]
            call.arguments = (call.arguments + str(about.get("arguments") or ""))[:MOST_LETTERS]

    def pop_complete(self) -> Iterator[ToolCall | BadToolCall]:
        """All but the newest, which may go on."""
        for index in sorted(self._open)[:-1]:
            yield _read(self._open.pop(index))

    def flush(self) -> Iterator[ToolCall | BadToolCall]:
        """The answer has ended: all that is left."""
        for index in sorted(self._open):
            yield _read(self._open.pop(index))


def _read(call: _OpenCall) -> ToolCall | BadToolCall:
    try:
        given = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):  # the latter of many brackets, before Python 3.12
        return BadToolCall("its arguments are no JSON")
    if not (call.name.isidentifier() and isinstance(given, dict)):
        return BadToolCall("it has no name, or its arguments none")
    if len(given) > MOST_ARGUMENTS:
        return BadToolCall("it has too many arguments")
    found: dict[str, Value] = {}
    for key, value in given.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return BadToolCall("an argument is neither a text nor a number")
        if not isinstance(value, str) and not -MOST_NUMBER < value < MOST_NUMBER:
            return BadToolCall("a number is out of range or not finite")  # also one that is none
        found[key] = plain(value) if isinstance(value, str) else value
    return ToolCall(call.name, found)
