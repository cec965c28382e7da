"""Assembles tool calls that an OpenAI-compatible server streams in pieces of JSON. Pure.

In: the `tool_calls` of one event after another; the name comes first, then the arguments in pieces.
Out: calls, each when it is complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from appliance.messages.limits import MOST_ARGUMENTS
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall, Value, plain

MOST_CALLS = 8  # in one answer; a model with more calls repeats itself
MOST_NUMBER = 1e9  # far above any number that a tool accepts
MOST_LETTERS = 4000  # of one call's arguments; no valid call has more


@dataclass
class _OpenCall:
    name: str = ""
    arguments: str = ""


class ToolCallStream:
    """Collects calls. A call is complete when the next one starts or the answer ends."""

    def __init__(self) -> None:
        self._open: dict[int, _OpenCall] = {}

    @property
    def waiting(self) -> bool:
        """Whether `pop_complete` has a call to return."""
        return len(self._open) > 1

    def push(self, deltas: Iterable[Mapping[str, Any]]) -> None:
        """Add the calls of one event. Raises one of server_errors.UNREADABLE for invalid ones."""
        for delta in deltas:
            index = int(delta.get("index", 0))
            if index not in self._open and len(self._open) >= MOST_CALLS:
                raise ValueError("too many calls")
            call = self._open.setdefault(index, _OpenCall())
            function = delta.get("function") or {}
            call.name = (call.name + str(function.get("name") or ""))[:MOST_LETTERS]
            call.arguments = (call.arguments + str(function.get("arguments") or ""))[:MOST_LETTERS]

    def pop_complete(self) -> Iterator[ToolCall | BadToolCall]:
        """Yield all calls but the newest, which may continue."""
        for index in sorted(self._open)[:-1]:
            yield _parsed(self._open.pop(index))

    def flush(self) -> Iterator[ToolCall | BadToolCall]:
        """Yield all remaining calls at the end of the answer."""
        for index in sorted(self._open):
            yield _parsed(self._open.pop(index))


def _parsed(call: _OpenCall) -> ToolCall | BadToolCall:
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):  # RecursionError: nested brackets, before Python 3.12
        return BadToolCall("its arguments are no JSON")
    if not (call.name.isidentifier() and isinstance(arguments, dict)):
        return BadToolCall("it has no name, or its arguments are not an object")
    if len(arguments) > MOST_ARGUMENTS:
        return BadToolCall("it has too many arguments")
    values: dict[str, Value] = {}
    for key, value in arguments.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return BadToolCall("an argument is neither a text nor a number")
        if not isinstance(value, str) and not -MOST_NUMBER < value < MOST_NUMBER:
            return BadToolCall("a number is out of range or not finite")  # NaN fails the test, too
        values[key] = plain(value) if isinstance(value, str) else value
    return ToolCall(call.name, values)
