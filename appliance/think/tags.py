"""Thoughts and tool calls are never spoken: what stands between their tags is left out.

In: the tokens or the text of an answer as they come. Out: what may be said.
"""

from __future__ import annotations

from collections.abc import Mapping

# Gemma 4's tags. What an opening tag begins lasts to its closing tag, or to the end.
SILENT: Mapping[str, str] = {
    "<|channel>": "<channel|>",
    "<|tool_call>": "<tool_call|>",
    "<|tool_response>": "<tool_response|>",
    "<think>": "</think>",  # other models' thoughts, from a remote server
}


class TokenFilter:
    """Tags that are single tokens. `pairs`: the id of each opening tag and of its closing tag.

    `suppressed` says whether anything at all was left out.
    """

    def __init__(self, pairs: Mapping[int, int]) -> None:
        self._pairs = pairs
        self._strays = frozenset(pairs.values())
        self._until: int | None = None
        self.suppressed = False

    def admits(self, token: int) -> bool:
        """Whether this next token may be said."""
        if self._until is not None:
            if token == self._until:
                self._until = None
            return False
        if token in self._pairs:
            self._until = self._pairs[token]
            self.suppressed = True
            return False
        if token in self._strays:
            self.suppressed = True
            return False
        return True


class TextFilter:
    """The same for tags spelled out, wherever the pieces of text happen to be cut.

    What may be the beginning of a tag is held back until the next piece tells.
    """

    def __init__(self, pairs: Mapping[str, str] = SILENT) -> None:
        self._pairs = pairs
        self._until: str | None = None
        self._kept = ""

    def feed(self, text: str) -> str:
        """What of the text so far may be said now."""
        self._kept += text
        said = ""
        while True:
            tags = (self._until,) if self._until else (*self._pairs, *self._pairs.values())
            at, tag = min(
                ((found, tag) for tag in tags if (found := self._kept.find(tag)) >= 0),
                default=(-1, ""),
            )
            if at < 0:
                break
            if self._until is None:
                said += self._kept[:at]
                self._until = self._pairs.get(tag)  # a stray closing tag opens nothing
            else:
                self._until = None
            self._kept = self._kept[at + len(tag) :]
        held = _beginning_of(self._kept, tags)
        if self._until is None:
            said += self._kept[: len(self._kept) - held]
        self._kept = self._kept[len(self._kept) - held :]
        return said

    def flush(self) -> str:
        """The text has ended: what was held back and is no tag after all."""
        rest, self._kept = self._kept, ""
        return "" if self._until else rest


def _beginning_of(text: str, tags: tuple[str, ...]) -> int:
    """The length of the longest end of `text` with which one of the tags begins."""
    longest = max(len(tag) for tag in tags) - 1
    for length in range(min(longest, len(text)), 0, -1):
        if any(tag.startswith(text[-length:]) for tag in tags):
            return length
    return 0
