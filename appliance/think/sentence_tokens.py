"""Splits an answer into sentences and maps each sentence to its tokens. Pure.

In: text of any size, some of it with the serial of its token. Out: sentences as SentenceSplitter
finds them, with the token of each word, for a voice that speaks the tokens.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from appliance.messages.speech import SentenceTokens
from appliance.think.drawn_states import DrawnText
from appliance.think.sentences import SentenceSplitter


class FoundSentence(NamedTuple):
    text: str
    tokens: SentenceTokens | None = None


class SentenceStream:
    """Collects text and returns sentences. Each token belongs to one sentence; a token between two
    sentences, to the later one."""

    def __init__(self) -> None:
        self._splitter = SentenceSplitter()
        self._starts: list[int] = []  # position of each piece of text in the answer, in letters
        self._serials: list[int] = []  # serial of each piece's token; 0: it has none
        self._letters = 0
        self._next = 0  # serial of the first token that belongs to no sentence yet

    def push(self, text: str) -> list[FoundSentence]:
        """Add text and return the sentences that it completes."""
        self._add(text)
        return self._found(self._splitter.push(text))

    def flush(self) -> list[FoundSentence]:
        """End the text and return the rest of it. A new text may follow."""
        found = self._found(self._splitter.flush())
        self._add("\n")  # the splitter counts this line end, too
        return found

    def _add(self, text: str) -> None:
        if not text:
            return
        serial = text.serial if isinstance(text, DrawnText) else 0
        self._next = self._next or serial
        self._starts.append(self._letters)
        self._serials.append(serial)
        self._letters += len(text)

    def _found(self, sentences: list[str]) -> list[FoundSentence]:
        places = self._splitter.places
        return [
            FoundSentence(text, self._tokens(text, *place))
            for text, place in zip(sentences, places, strict=True)
        ]

    def _tokens(self, sentence: str, start: int, raw: str) -> SentenceTokens | None:
        first, last = self._next, self._serial(start + len(raw.rstrip()) - 1)
        if not last or last < first:
            return None
        self._next = last + 1
        at, words = 0, list[int]()
        for word in sentence.split():
            found = raw.find(word, at)
            at = found if found >= 0 else at  # not found: markup inside the word; assume it is next
            words.append(max(0, self._serial(start + at) - first))
            at += len(word) if found >= 0 else 0
        return SentenceTokens(first, last + 1, tuple(words))

    def _serial(self, letter: int) -> int:
        """Return the serial of the token that holds this letter."""
        return self._serials[bisect_right(self._starts, letter) - 1]
