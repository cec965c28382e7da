"""Tool calls in an answer: text between the tags, whole or cut off, is a call or a bad call."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from appliance.think.special_tokens import HiddenText
from appliance.think.tool_calls import TAG, with_calls
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall


def call(text: str, *, whole: bool = True) -> list[str | ToolCall | BadToolCall]:
    return list(with_calls([HiddenText(TAG, text, whole)]))


def test_words_and_calls_keep_their_order_and_thoughts_are_left_out() -> None:
    parts: list[str | HiddenText] = [
        "Sure. ",
        HiddenText("<|channel>", "what is it?", whole=True),
        HiddenText(TAG, "call:time{}", whole=True),
        "Done.",
    ]
    assert list(with_calls(parts)) == ["Sure. ", ToolCall("time"), "Done."]


def test_a_call_that_lacks_only_its_last_tag_is_accepted() -> None:
    assert call("call:timer{minutes:5}", whole=False) == [ToolCall("timer", {"minutes": 5})]


def test_a_call_that_was_cut_off_is_a_bad_call() -> None:
    (bad,) = call("call:time", whole=False)
    assert isinstance(bad, BadToolCall)
    assert "ended in the middle" in str(bad)


def test_a_malformed_call_is_a_bad_call_and_the_answer_continues() -> None:
    found = list(with_calls([HiddenText(TAG, "{}", whole=True), "Done."]))
    assert isinstance(found[0], BadToolCall)
    assert found[1:] == ["Done."]


@given(st.text(max_size=40), st.booleans())
def test_text_between_the_tags_is_never_spoken(text: str, whole: bool) -> None:
    (found,) = call(text, whole=whole)
    assert isinstance(found, ToolCall | BadToolCall)
