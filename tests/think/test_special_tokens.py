"""Thoughts and tool calls are removed from the text and returned as hidden text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.think.special_tokens import SPELLED_THOUGHTS, HiddenText, SpecialTokenFilter

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
    ("<|channel>a <think> b</think> c<channel|>d", "d"),  # only its own tag ends a thought
    ("One <|tool_call>never closed", "One "),
]


@pytest.mark.parametrize(("text", "visible"), TEXTS)
def test_spelled_out_tags_are_removed(text: str, visible: str) -> None:
    gate = SpecialTokenFilter()
    assert gate.feed(text) + gate.flush() == visible


@pytest.mark.parametrize(("text", "visible"), TEXTS)
@given(size=st.integers(1, 6))
def test_a_tag_split_into_pieces_is_removed(text: str, visible: str, size: int) -> None:
    gate = SpecialTokenFilter()
    pieces = [gate.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(pieces) + gate.flush() == visible


def test_text_that_cannot_be_a_tag_is_not_held_back() -> None:
    gate = SpecialTokenFilter()
    assert gate.feed("Hello") == "Hello"
    assert gate.feed(" <") == " "
    assert gate.feed("3") == "<3"


HIDDEN = [
    (
        "One <|tool_call>f{}<tool_call|>two",
        ["One ", HiddenText("<|tool_call>", "f{}", True), "two"],
    ),
    ("<|tool_call>f{}", [HiddenText("<|tool_call>", "f{}", False)]),
    ("<think>a <|tool_call>f{}</think>", [HiddenText("<think>", "a <|tool_call>f{}", True)]),
    ("plain", ["plain"]),
    ("stray <tool_call|>tag", ["stray ", "tag"]),
]


def joined(parts: list[str | HiddenText]) -> list[str | HiddenText]:
    """The parts with adjacent texts joined."""
    found: list[str | HiddenText] = []
    for part in parts:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        else:
            found.append(part)
    return found


@pytest.mark.parametrize(("text", "parts"), HIDDEN)
@given(size=st.integers(1, 40))
def test_hidden_text_is_returned_in_its_place(
    text: str, parts: list[str | HiddenText], size: int
) -> None:
    gate = SpecialTokenFilter()
    found = [part for at in range(0, len(text), size) for part in gate.split(text[at : at + size])]
    assert joined(found + gate.finish()) == joined(parts)


def test_an_endless_call_does_not_fill_the_memory() -> None:
    gate = SpecialTokenFilter()
    for _ in range(100):
        assert gate.split("<|tool_call>" + "x" * 1000) == []
    (hidden,) = gate.finish()
    assert isinstance(hidden, HiddenText)
    assert len(hidden.text) <= 4000


def test_a_tag_as_a_token_is_closed_by_a_token_only() -> None:
    gate = SpecialTokenFilter(SPELLED_THOUGHTS)
    assert gate.split("One <|tool_call>f{}<tool_call|> <") == ["One <|tool_call>f{}<tool_call|> "]
    assert gate.push_tag("<|tool_call>") == ["<"]
    assert gate.split("a<tool_call|>b") == []
    assert gate.push_tag('<|"|>') == []
    hidden = HiddenText("<|tool_call>", 'a<tool_call|>b<|"|>', True)
    assert gate.push_tag("<tool_call|>") == [hidden]
    assert gate.push_tag("<tool_call|>") == []  # a stray one says nothing
    assert gate.split("<think>hm</think>two") == [HiddenText("<think>", "hm", True), "two"]
