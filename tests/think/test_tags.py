"""Thoughts and tool calls are left out, as tokens and as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.think.tags import TextFilter, TokenFilter

PAIRS = {100: 101, 48: 49}


def admitted(tokens: list[int]) -> list[int]:
    gate = TokenFilter(PAIRS)
    return [token for token in tokens if gate.admits(token)]


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ([1, 2, 3], [1, 2, 3]),
        ([100, 7, 8, 101, 1], [1]),
        ([1, 48, 7, 49, 2, 100, 101, 3], [1, 2, 3]),
        ([1, 100, 48, 49, 9, 101, 2], [1, 2]),  # only its own closing tag ends a thought
        ([1, 100, 7, 8], [1]),  # never closed: nothing more is said
        ([101, 1, 49, 2], [1, 2]),  # closing tags without an opening one
    ],
)
def test_what_stands_between_tag_tokens_is_not_said(tokens: list[int], said: list[int]) -> None:
    assert admitted(tokens) == said


def test_a_filter_says_whether_it_left_anything_out() -> None:
    quiet, thoughtful = TokenFilter(PAIRS), TokenFilter(PAIRS)
    for token in (1, 2):
        quiet.admits(token)
    for token in (1, 100, 101):
        thoughtful.admits(token)
    assert not quiet.suppressed
    assert thoughtful.suppressed


TEXTS = [
    ("Hello.", "Hello."),
    ("<|channel>thought\nhm<channel|>Hello.", "Hello."),
    ("One <|tool_call>call:f{}<tool_call|>two", "One two"),
    ("One <|tool_response>x<tool_response|>two", "One two"),
    ("<think>hm</think>Hello.", "Hello."),
    ("1 < 2 and <b>3</b>", "1 < 2 and <b>3</b>"),
    ("It ends in <|chan", "It ends in <|chan"),
    ("It ends in <|channel>thought", "It ends in "),
    ("stray <channel|>tag", "stray tag"),
    ("<|channel>a <think> b</think> c<channel|>d", "d"),
]


@pytest.mark.parametrize(("text", "said"), TEXTS)
def test_tags_spelled_out_are_not_said_either(text: str, said: str) -> None:
    gate = TextFilter()
    assert gate.feed(text) + gate.flush() == said


@pytest.mark.parametrize(("text", "said"), TEXTS)
@given(size=st.integers(1, 6))
def test_a_tag_cut_in_pieces_is_still_a_tag(text: str, said: str, size: int) -> None:
    gate = TextFilter()
    pieces = [gate.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(pieces) + gate.flush() == said


def test_text_that_can_be_no_tag_is_not_held_back() -> None:
    gate = TextFilter()
    assert gate.feed("Hello") == "Hello"
    assert gate.feed(" <") == " "
    assert gate.feed("3") == "<3"
