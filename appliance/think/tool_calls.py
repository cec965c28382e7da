"""Parses the tool calls in an answer: hidden text becomes a ToolCall or BadToolCall. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from appliance.think.special_tokens import HiddenText
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall, parse

TAG = "<|tool_call>"


def with_calls(parts: Iterable[str | HiddenText]) -> Iterator[str | ToolCall | BadToolCall]:
    """Yield the text to speak and the calls, in order. Thoughts are left out."""
    for part in parts:
        if isinstance(part, str):
            yield part
        elif part.tag == TAG:
            yield _call(part)


def _call(hidden: HiddenText) -> ToolCall | BadToolCall:
    if not hidden.whole and "}" not in hidden.text:
        return BadToolCall("the answer ended in the middle of it")  # `time` may be a cut `timers`
    try:
        return parse(hidden.text)
    except BadToolCall as bad:
        return bad
