"""Tool calls as servers stream them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.messages.registry import encode
from appliance.messages.tools import ToolCalled
from appliance.think.tool_call_stream import ToolCallStream
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall


def delta(index: int, name: str = "", arguments: str = "") -> dict[str, Any]:
    return {"index": index, "function": {"name": name, "arguments": arguments}}


def calls(*events: list[dict[str, Any]]) -> list[ToolCall | BadToolCall]:
    deltas = ToolCallStream()
    found: list[ToolCall | BadToolCall] = []
    for event in events:
        deltas.push(event)
        found += deltas.pop_complete()
    return [*found, *deltas.flush()]


def test_a_call_in_pieces_is_one_call() -> None:
    pieces = [delta(0, "timer")], [delta(0, arguments='{"min')], [delta(0, arguments='utes": 5}')]
    assert calls(*pieces) == [ToolCall("timer", {"minutes": 5})]


def test_a_call_is_complete_when_the_next_begins() -> None:
    deltas = ToolCallStream()
    deltas.push([delta(0, "time")])
    assert list(deltas.pop_complete()) == []
    deltas.push([delta(1, "date", "{}")])
    assert list(deltas.pop_complete()) == [ToolCall("time")]
    assert list(deltas.flush()) == [ToolCall("date")]


@pytest.mark.parametrize(
    "arguments",
    ["{", "[]", "5", '{"a": {}}', '{"a": null}', '{"a": true}', '{"a": NaN}', '{"a": 1e400}',
     '{"a": ' + "9" * 40 + "}", "{" + ",".join(f'"a{n}": 1' for n in range(9)) + "}",
     "[" * 3000],
)  # fmt: skip
def test_invalid_arguments_give_a_bad_call(arguments: str) -> None:
    (found,) = calls([delta(0, "timer", arguments)])
    assert isinstance(found, BadToolCall)


def test_too_many_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="too many"):
        calls([delta(index, "time") for index in range(100)])


@given(st.text(max_size=10), st.text(max_size=60))
def test_any_accepted_call_can_be_encoded_as_a_message(name: str, arguments: str) -> None:
    for found in calls([delta(0, name, arguments)]):
        if isinstance(found, ToolCall):
            encode(ToolCalled(1, 0, found.name, dict(found.arguments)))
