"""The positions of a sentence's words in its sound, as far as its voice reports them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from appliance.pcm import RATE_HZ
from appliance.voice.protocol import EngineSound


class SpokenWord(NamedTuple):
    """Characters `begin` to `end` of the text sound from sample `at` of the sentence to sample
    `over`."""

    begin: int
    end: int
    at: int
    over: int


class SpeechMarks:
    """Collects the words that a program reports, stretch by stretch, in frames at its own rate."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._frames = 0  # of the stretches so far
        self._open = False  # the end of the last word is not known yet
        self._words: list[SpokenWord] = []
        self._parts: list[SpokenWord] = []

    def add(self, sound: EngineSound) -> None:
        """Add the next stretch. A word without an end ends where the next one begins, or else at
        the end of the sound."""
        words = sound.words
        if self._open:
            until = self._frames + (words[0][2] if words else sound.frames)
            last_over = until * RATE_HZ // self._rate_hz
            self._words[-1] = self._words[-1]._replace(over=last_over)
        self._open = len(words[-1]) == 3 if words else self._open
        for place, (begin, end, at, *over) in enumerate(words):
            following = words[place + 1][2] if place + 1 < len(words) else sound.frames
            self._words.append(self._word(begin, end, at, over[0] if over else following))
        self._parts.append(self._word(sound.begin, sound.end, 0, sound.frames))
        self._frames += sound.frames

    def words(self, trimmed: int) -> list[SpokenWord]:
        """Its words. `trimmed`: samples that were trimmed from its beginning."""
        return [_shifted(word, trimmed) for word in self._words if word.begin < word.end]

    def parts(self, trimmed: int) -> list[SpokenWord]:
        """Its stretches, in the form of `words`: for a voice that does not report words."""
        return [_shifted(part, trimmed) for part in self._parts if part.begin < part.end]

    def _word(self, begin: int, end: int, at: int, over: int) -> SpokenWord:
        places = ((self._frames + frame) * RATE_HZ // self._rate_hz for frame in (at, over))
        return SpokenWord(begin, end, *places)


def _shifted(word: SpokenWord, trimmed: int) -> SpokenWord:
    return word._replace(at=max(0, word.at - trimmed), over=max(0, word.over - trimmed))


def heard_after(words: Iterable[SpokenWord], most: int) -> tuple[tuple[int, int], ...]:
    """For each of at most `most` words, the number of characters said by its end, and the sample of
    its end."""
    places: list[tuple[int, int]] = []
    for word in sorted(words, key=lambda each: each.at):
        said = max(word.end, places[-1][0] if places else 0)
        places.append((said, max(word.over, places[-1][1] if places else 0)))
    return tuple(places[:most])


class WordBegins:
    """The samples at which words begin, in the part of an answer that is not popped yet."""

    def __init__(self) -> None:
        self._waiting: deque[int] = deque()

    def add(self, position: int) -> None:
        """Add the beginning of a word; a position before one that is known is ignored."""
        if not self._waiting or position > self._waiting[-1]:
            self._waiting.append(position)

    def clear(self) -> None:
        self._waiting.clear()

    def take(self, position: int, most: int) -> tuple[bool, int]:
        """Whether a word begins at `position`, and how many samples there are before the next one,
        at most `most`."""
        while self._waiting and self._waiting[0] < position:
            self._waiting.popleft()
        begins = bool(self._waiting) and self._waiting[0] == position
        if begins:
            self._waiting.popleft()
        return begins, min(most, self._waiting[0] - position) if self._waiting else most
