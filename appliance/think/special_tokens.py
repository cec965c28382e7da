"""Removes thoughts and tool calls, with their tags, from the text of an answer.

In: the text of an answer in pieces, and the tags that a model of this box sampled as tokens. Out:
the text to speak and the hidden text. A server sends text alone, in which tags are spelled out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Gemma 4's tags, opening to closing. Hidden text ends at its closing tag or with the answer.
SILENT: Mapping[str, str] = {
    "<|channel>": "<channel|>",
    "<|tool_call>": "<tool_call|>",
    "<|tool_response>": "<tool_response|>",
    "<think>": "</think>",  # thoughts of other models on a server
}
THOUGHTS = ("<|channel>", "<think>")
# Tags that count also where a model of this box spells them: text that spells a call, perhaps
# somebody's who talks to the box, is words.
SPELLED_THOUGHTS: Mapping[str, str] = {tag: SILENT[tag] for tag in THOUGHTS}
MOST_HIDDEN = 4000  # maximum letters of hidden text; no valid call is longer


@dataclass(frozen=True)
class HiddenText:
    """The text between two tags. `whole`: its closing tag was found."""

    tag: str
    text: str
    whole: bool


class SpecialTokenFilter:
    """Finds the tags, also those that are split over several pieces of text.

    Text that may be the start of a tag is held back until the next piece decides it. `spelled`: the
    tags that are found in text, opening to closing.
    """

    def __init__(self, spelled: Mapping[str, str] = SILENT) -> None:
        self._spelled = spelled
        self._tag = ""  # the open tag
        self._by_token = False  # it was a token, and only a token closes it
        self._hidden = ""
        self._pending = ""

    def split(self, text: str) -> list[str | HiddenText]:
        """Add text; return what can be spoken now and what is hidden, in order."""
        self._pending += text
        found: list[str | HiddenText] = []
        while True:
            until = self._spelled.get(self._tag)
            tags = (until,) if until else (*self._spelled, *self._spelled.values())
            if self._by_token:
                tags = ()
            at, tag = min(
                ((at, tag) for tag in tags if (at := self._pending.find(tag)) >= 0),
                default=(-1, ""),
            )
            if at < 0:
                break
            self._emit(self._pending[:at], found)
            self._pending = self._pending[at + len(tag) :]
            if until:
                found.append(self._close(whole=True))
            elif tag in self._spelled:  # a stray closing tag opens nothing
                self._tag = tag
        held = _partial_tag_length(self._pending, tags)
        self._emit(self._pending[: len(self._pending) - held], found)
        self._pending = self._pending[len(self._pending) - held :]
        return found

    def push_tag(self, tag: str) -> list[str | HiddenText]:
        """Add a tag that is a token; return what can be spoken now and what is hidden, in order."""
        found: list[str | HiddenText] = []
        self._emit(self._pending, found)  # text and a token are no tag together
        self._pending = ""
        if not self._tag and tag in SILENT:
            self._tag, self._by_token = tag, True
        elif SILENT.get(self._tag) == tag:
            found.append(self._close(whole=True))
        elif self._tag or tag not in SILENT.values():  # a stray closing tag says nothing
            self._emit(tag, found)
        return found

    def finish(self) -> list[str | HiddenText]:
        """End the text; return what was held back and is not a tag."""
        found: list[str | HiddenText] = []
        self._emit(self._pending, found)
        self._pending = ""
        if self._tag:
            found.append(self._close(whole=False))
        return found

    def feed(self, text: str) -> str:
        """Add text; return only what can be spoken now."""
        return _spoken_text(self.split(text))

    def flush(self) -> str:
        """End the text; return only the rest that can be spoken."""
        return _spoken_text(self.finish())

    def _emit(self, text: str, found: list[str | HiddenText]) -> None:
        if self._tag:
            self._hidden = (self._hidden + text)[:MOST_HIDDEN]
        elif text:
            found.append(text)

    def _close(self, *, whole: bool) -> HiddenText:
        hidden = HiddenText(self._tag, self._hidden, whole)
        self._tag, self._hidden, self._by_token = "", "", False
        return hidden


def _spoken_text(parts: list[str | HiddenText]) -> str:
    return "".join(part for part in parts if isinstance(part, str))


def _partial_tag_length(text: str, tags: tuple[str, ...]) -> int:
    """Return the length of the longest suffix of `text` that is a prefix of a tag."""
    longest = max((len(tag) for tag in tags), default=1) - 1
    for length in range(min(longest, len(text)), 0, -1):
        if any(tag.startswith(text[-length:]) for tag in tags):
            return length
    return 0
