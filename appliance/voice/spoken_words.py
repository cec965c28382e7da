"""Where the words of a sentence begin and end in its sound, as far as its voice tells."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from appliance.pcm import RATE_HZ
from appliance.voice.protocol import EngineSound


class SpokenWord(NamedTuple):
    """Characters `begin` to `end` of the text sound from sample `at` of the sentence on, and are
    over at sample `over`."""

    begin: int
    end: int
    at: int
    over: int


class SpeechMarks:
    """What a program tells of its sentence, stretch by stretch, in frames at its own rate."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._frames = 0  # of the stretches so far
        self._open = False  # the last word has not said when it is over
        self._words: list[SpokenWord] = []
        self._parts: list[SpokenWord] = []

    def add(self, sound: EngineSound) -> None:
        """The next stretch. A word that does not say when it is over is so as the next begins, or
        at the end of the sound."""
        told = sound.words
        if self._open:
            until = self._frames + (told[0][2] if told else sound.frames)
            last_over = until * RATE_HZ // self._rate_hz
            self._words[-1] = self._words[-1]._replace(over=last_over)
        self._open = len(told[-1]) == 3 if told else self._open
        for place, (begin, end, at, *over) in enumerate(told):
            following = told[place + 1][2] if place + 1 < len(told) else sound.frames
            self._words.append(self._word(begin, end, at, over[0] if over else following))
        self._parts.append(self._word(sound.begin, sound.end, 0, sound.frames))
        self._frames += sound.frames

    def words(self, left_out: int) -> list[SpokenWord]:
        """Its words; `left_out`: samples before its first that are not handed on."""
        return [_moved(word, left_out) for word in self._words if word.begin < word.end]

    def parts(self, left_out: int) -> list[SpokenWord]:
        """Its stretches, likewise: of a voice that does not tell of words."""
        return [_moved(part, left_out) for part in self._parts if part.begin < part.end]

    def _word(self, begin: int, end: int, at: int, over: int) -> SpokenWord:
        places = ((self._frames + frame) * RATE_HZ // self._rate_hz for frame in (at, over))
        return SpokenWord(begin, end, *places)


def _moved(word: SpokenWord, left_out: int) -> SpokenWord:
    return word._replace(at=max(0, word.at - left_out), over=max(0, word.over - left_out))


def heard_after(words: Iterable[SpokenWord], most: int) -> tuple[tuple[int, int], ...]:
    """For each word, how many characters of the text have been said, and at which sample; at most
    so many words."""
    places: list[tuple[int, int]] = []
    for word in sorted(words, key=lambda each: each.at):
        said = max(word.end, places[-1][0] if places else 0)
        places.append((said, max(word.over, places[-1][1] if places else 0)))
    return tuple(places[:most])


class WordBegins:
    """The samples of an answer at which words begin, of what is still to be handed out."""

    def __init__(self) -> None:
        self._waiting: deque[int] = deque()

    def add(self, position: int) -> None:
        """One behind those that are known."""
        if not self._waiting or position > self._waiting[-1]:
            self._waiting.append(position)

    def clear(self) -> None:
        self._waiting.clear()

    def take(self, position: int, most: int) -> tuple[bool, int]:
        """Whether a word begins at `position`, and how many samples from there, at most `most`, lie
        before the next one."""
        while self._waiting and self._waiting[0] < position:
            self._waiting.popleft()
        begins = bool(self._waiting) and self._waiting[0] == position
        if begins:
            self._waiting.popleft()
        return begins, min(most, self._waiting[0] - position) if self._waiting else most
