"""The plainest requests: what is beyond doubt, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.tools.intents import parse_intent
from appliance.tools.tool_call_syntax import ToolCall
from appliance.tools.toolbox import TOOLS


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("What time is it?", ToolCall("time")),
        ("what's the time", ToolCall("time")),
        ("Hey, what time is it now?", ToolCall("time")),
        ("What is today's date?", ToolCall("date")),
        ("set a timer for five minutes", ToolCall("timer", {"minutes": 5})),
        ("Please set a timer for 10 minutes.", ToolCall("timer", {"minutes": 10})),
        ("start a timer for half an hour", ToolCall("timer", {"minutes": 30})),
        ("set a timer for an hour and a half", ToolCall("timer", {"minutes": 90})),
        ("set a timer for two and a half minutes", ToolCall("timer", {"minutes": 2.5})),
        ("set a timer for thirty seconds please", ToolCall("timer", {"minutes": 0.5})),
        ("can you set a ten minute timer", ToolCall("timer", {"minutes": 10})),
        ("cancel the timer", ToolCall("cancel_timer")),
        ("how long is left", ToolCall("timers")),
        ("turn it up", ToolCall("volume", {"change": "up"})),
        ("quieter", ToolCall("volume", {"change": "down"})),
        ("say that again", ToolCall("repeat")),
        ("forget what I said", ToolCall("forget")),
        (
            "Turn off the kitchen light.",
            ToolCall("home", {"command": "turn off the kitchen light"}),
        ),
    ],
)
def test_a_plain_request_is_understood(words: str, call: ToolCall) -> None:
    assert parse_intent(words) == call


@pytest.mark.parametrize(
    "words",
    [
        "", "?", "what time is it in Tokyo", "what time is the game", "tell me about the time",
        "set a timer for ages", "set a timer", "set a timer for five", "do not cancel the timer",
        "forget it", "louder than a bomb", "turn on your imagination", "why did you say that",
    ],
)  # fmt: skip
def test_what_only_sounds_like_one_is_left_to_the_model(words: str) -> None:
    assert parse_intent(words) is None


@given(st.text(max_size=80))
def test_whatever_is_typed_is_nothing_or_a_tool(text: str) -> None:
    call = parse_intent(text)
    assert call is None or call.name in TOOLS
