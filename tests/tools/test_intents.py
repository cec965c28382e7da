"""Plain requests: unambiguous ones are parsed, all others are left to the model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.tools.intents import (
    GRAMMARS,
    PlainRequest,
    parse_clock,
    parse_intent,
    parse_number,
)
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
        ("set a timer for one hour and ten minutes", ToolCall("timer", {"minutes": 70})),
        ("wake me up in twenty minutes", ToolCall("timer", {"minutes": 20})),
        ("set an alarm for half past seven", ToolCall("alarm", {"at": "07:30"})),
        ("wake me at 6:45 a.m.", ToolCall("alarm", {"at": "06:45"})),
        ("Wake me up tomorrow at seven.", ToolCall("alarm", {"at": "tomorrow 07:00"})),
        ("set the alarm for eight in the evening", ToolCall("alarm", {"at": "20:00"})),
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
    assert parse_intent(words) == PlainRequest(call, "en")


@pytest.mark.parametrize(
    "words",
    [
        "", "?", "what time is it in Tokyo", "what time is the game", "tell me about the time",
        "set a timer for ages", "set a timer", "set a timer for five", "do not cancel the timer",
        "forget it", "louder than a bomb", "turn on your imagination", "why did you say that",
    ],
)  # fmt: skip
def test_a_request_that_is_not_plain_is_left_to_the_model(words: str) -> None:
    assert parse_intent(words) is None


def test_a_request_in_another_language_is_parsed_and_names_its_language() -> None:
    asked = {"en": "what time is it", "de": "wie spät ist es"}
    for first in (*GRAMMARS, "fr"):
        for language, words in asked.items():
            assert parse_intent(words, first) == PlainRequest(ToolCall("time"), language)


def test_numbers_and_times_are_parsed_in_the_language_or_in_english() -> None:
    assert [parse_number("fünf", language) for language in ("de", "en", "fr")] == [5, None, None]
    assert [parse_number("five", language) for language in ("de", "en", "fr")] == [5, 5, 5]
    assert [parse_clock("Halb acht", language) for language in ("de", "en")] == ["07:30", None]
    assert [parse_clock("Half past seven", language) for language in ("de", "en")] == [
        "07:30",
        "07:30",
    ]


@given(st.text(max_size=80), st.sampled_from([*GRAMMARS]))
def test_any_text_gives_no_request_or_a_known_tool(text: str, first: str) -> None:
    wanted = parse_intent(text, first)
    assert wanted is None or wanted.call.name in TOOLS
