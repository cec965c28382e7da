"""Parses and writes tool calls in Gemma 4's form: `call:NAME{key:<|"|>text<|"|>,other:12}`. Pure.

In: the text between `<|tool_call>` and `<tool_call|>`. Out: a ToolCall, or BadToolCall with the
reason. A small model may omit the quotes or use others; the parsed text is always one short line of
plain text. README.md describes the form and how a call is handled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from appliance.messages.limits import MOST_ARGUMENTS
from appliance.plain_text import one_line

QUOTE = '<|"|>'
MOST_LETTERS = 300  # maximum length of an argument: a sentence or two

Value = str | int | float

_HEAD = re.compile(r"\s*(?:call\s*:)?\s*([A-Za-z_][A-Za-z0-9_]{0,39})\s*")
_KEY = re.compile(r"\s*(?:<\|\"\|>|\")?([A-Za-z_][A-Za-z0-9_]{0,39})(?:<\|\"\|>|\")?\s*:\s*")
_NUMBER = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?")
_MARK = re.compile(r"<\|?[A-Za-z_/\"]{0,20}\|?>")
_BARE = re.compile(r"[^,{}\[\]]*")


class BadToolCall(ValueError):
    """Why a call is invalid, for the log; contains no text of the call itself."""


@dataclass(frozen=True)
class ToolCall:
    """A tool's name and its arguments."""

    name: str
    arguments: Mapping[str, Value] = field(default_factory=dict)


def parse(text: str) -> ToolCall:
    """Parse a call. Raises BadToolCall."""
    head = _HEAD.match(text)
    if head is None:
        raise BadToolCall("it has no name")
    rest = text[head.end() :].rstrip()
    if not rest:
        return ToolCall(head[1])
    if not rest.startswith("{"):
        raise BadToolCall("no { comes after its name")
    return ToolCall(head[1], _arguments(rest[1:]))


def _arguments(text: str) -> dict[str, Value]:
    found: dict[str, Value] = {}
    at = _skip_space(text, 0)
    while not text.startswith("}", at):
        key = _KEY.match(text, at)
        if key is None:
            raise BadToolCall("an argument has no name")
        value, at = _value(text, key.end())
        if key[1] in found or len(found) >= MOST_ARGUMENTS:
            raise BadToolCall("an argument comes twice, or there are too many")
        found[key[1]] = value
        at = _skip_space(text, at)
        if text.startswith(",", at):
            at = _skip_space(text, at + 1)
        elif not text.startswith("}", at):
            raise BadToolCall("it does not end")
    if text[at + 1 :].strip(" }"):
        raise BadToolCall("something comes after its end")
    return found


def _value(text: str, at: int) -> tuple[Value, int]:
    """Parse one value; return it and the position of its end."""
    for quote in (QUOTE, '"'):
        if text.startswith(quote, at):
            end = text.find(quote, at + len(quote))
            if end < 0:
                raise BadToolCall("a text does not end")
            return plain(text[at + len(quote) : end]), end + len(quote)
    bare = _BARE.match(text, at)
    assert bare is not None  # the pattern also matches an empty string
    word = bare[0].strip()
    if text[bare.end() : bare.end() + 1] in ("{", "["):
        raise BadToolCall("an argument is neither a text nor a number")
    if _NUMBER.fullmatch(word):
        return (float(word) if "." in word else int(word)), bare.end()
    return plain(word), bare.end()


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def plain(text: str) -> str:
    """Return one line of plain text without special tokens and control characters, at most
    MOST_LETTERS long.

    For all text of a model, a server or the house that is saved, sent or spoken.
    """
    words = one_line(_MARK.sub(" ", text))
    if len(words) <= MOST_LETTERS:
        return words
    return words[:MOST_LETTERS].rpartition(" ")[0] or words[:MOST_LETTERS]


def to_syntax(call: ToolCall) -> list[tuple[str, bool]]:
    """Write a call in Gemma's form, as runs of text, each with whether it is plain text.

    Plain text must not be tokenised to special tokens.
    """
    runs: list[tuple[str, bool]] = []
    text = f"<|tool_call>call:{call.name}{{"
    for number, key in enumerate(sorted(call.arguments)):
        value = call.arguments[key]
        text += f"{',' if number else ''}{key}:"
        if isinstance(value, str):
            runs += [(text + QUOTE, False), (value, True)]
            text = QUOTE
        else:
            text += str(value) if isinstance(value, int) else _decimal(value)
    return [*runs, (text + "}<tool_call|>", False)]


def _decimal(value: float) -> str:
    """Format a number without an exponent: 2.5, not 2.5e+00."""
    return f"{value:.9f}".rstrip("0").rstrip(".")


def answer_to_syntax(name: str, text: str) -> list[tuple[str, bool]]:
    """Write a tool's answer in the same form."""
    head = f"<|tool_response>response:{name}{{value:{QUOTE}"
    return [(head, False), (text, True), (QUOTE + "}<tool_response|>", False)]
