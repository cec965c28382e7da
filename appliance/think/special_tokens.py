"""Removes thoughts and tool calls, with their tags, from the text of an answer.

In: the text of an answer as it comes, tags spelled out. Out: what may be said, and what was hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Gemma 4's tags. What an opening tag begins lasts to its closing tag, or to the end.
SILENT: Mapping[str, str] = {
    "<|channel>": "<channel|>",
    "<|tool_call>": "<tool_call|>",
    "<|tool_response>": "<tool_response|>",
    "<think>": "</think>",  # other models' thoughts, from a remote server
}
THOUGHTS = ("<|channel>", "<think>")
MOST_HIDDEN = 4000  # letters between two tags that are kept: more is no call


@dataclass(frozen=True)
class HiddenText:
    """What stood between two tags. `whole`: its closing tag came."""

    tag: str
    text: str
    whole: bool


class SpecialTokenFilter:
    """Finds the tags, wherever the pieces of text happen to be cut.

    What may be the beginning of a tag is held back until the next piece tells.
    """

    def __init__(self, pairs: Mapping[str, str] = SILENT) -> None:
        self._pairs = pairs
        self._tag = ""  # that is open
        self._inside = ""
        self._kept = ""

    def split(self, text: str) -> list[str | HiddenText]:
        """What of the text so far may be said now, and what was hidden, in order."""
        self._kept += text
        found: list[str | HiddenText] = []
        while True:
            until = self._pairs.get(self._tag)
            tags = (until,) if until else (*self._pairs, *self._pairs.values())
            at, tag = min(
                ((at, tag) for tag in tags if (at := self._kept.find(tag)) >= 0),
                default=(-1, ""),
            )
            if at < 0:
                break
            self._pass_on(self._kept[:at], found)
            self._kept = self._kept[at + len(tag) :]
            if until:
                found.append(self._close(whole=True))
            elif tag in self._pairs:  # a stray closing tag opens nothing
                self._tag = tag
        held = _beginning_of(self._kept, tags)
        self._pass_on(self._kept[: len(self._kept) - held], found)
        self._kept = self._kept[len(self._kept) - held :]
        return found

    def finish(self) -> list[str | HiddenText]:
        """The text has ended: what was held back and is no tag after all."""
        found: list[str | HiddenText] = []
        self._pass_on(self._kept, found)
        self._kept = ""
        if self._tag:
            found.append(self._close(whole=False))
        return found

    def feed(self, text: str) -> str:
        """What of the text so far may be said now."""
        return _said(self.split(text))

    def flush(self) -> str:
        """The same at the end of the text."""
        return _said(self.finish())

    def _pass_on(self, text: str, found: list[str | HiddenText]) -> None:
        if self._tag:
            self._inside = (self._inside + text)[:MOST_HIDDEN]
        elif text:
            found.append(text)

    def _close(self, *, whole: bool) -> HiddenText:
        hidden = HiddenText(self._tag, self._inside, whole)
        self._tag = self._inside = ""
        return hidden


def _said(parts: list[str | HiddenText]) -> str:
    return "".join(part for part in parts if isinstance(part, str))


def _beginning_of(text: str, tags: tuple[str, ...]) -> int:
    """The length of the longest end of `text` with which one of the tags begins."""
    longest = max(len(tag) for tag in tags) - 1
    for length in range(min(longest, len(text)), 0, -1):
        if any(tag.startswith(text[-length:]) for tag in tags):
            return length
    return 0
