"""Calls in an answer: what stood between a model's tags becomes a Call, or a BadCall. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from appliance.think.special_tokens import Hidden
from appliance.tools.tool_call_syntax import BadCall, Call, parse

TAG = "<|tool_call>"


def with_calls(parts: Iterable[str | Hidden]) -> Iterator[str | Call | BadCall]:
    """What may be said, and the calls, in order. Thoughts are left out."""
    for part in parts:
        if isinstance(part, str):
            yield part
        elif part.tag == TAG:
            yield _call(part)


def _call(hidden: Hidden) -> Call | BadCall:
    if not hidden.whole and "}" not in hidden.text:
        return BadCall("the answer ended in the middle of it")  # `time` may have meant `timers`
    try:
        return parse(hidden.text)
    except BadCall as bad:
        return bad
