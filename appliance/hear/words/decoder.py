"""Recognises words and the wake word in the microphone's sound after echo cancellation. Pure.

In: slots of the ring `near`. Out: WordsHeard, WakeWordHeard, WakeNearMiss and WakeScore.
"""

from __future__ import annotations

import numpy as np

from appliance.hear.words import phrases
from appliance.hear.words.interfaces import (
    BEFORE_FRAMES,
    WakeWordSpotter,
    WordHypothesis,
    WordRecogniser,
)
from appliance.hear.words.near_misses import NearMisses
from appliance.messages.hearing import WakeNearMiss, WakeScore, WakeWordHeard, WordsHeard
from appliance.pcm import RATE_HZ, Samples
from appliance.runtime.ipc.ring import END, START
from appliance.settings import WordsSettings

_FIRST_FRAMES = BEFORE_FRAMES + RATE_HZ // 5  # 200 ms of a sound before the first hypothesis
_EVERY_FRAMES = RATE_HZ * 12 // 100  # 120 ms: five times before the deadline of 700 ms
_LEAST_SURE = 0.2  # for a stop word; 43 of 60 recorded ones reach it, and 1 of 150 other words
_LONGEST_STOP_MS = 1200  # the silence that ends an utterance not included
_NOTHING = WordHypothesis("", 0.0)


WordsNews = WordsHeard | WakeWordHeard | WakeNearMiss | WakeScore


class WordDecoder:
    """Runs a recogniser, a wake word spotter, or both."""

    def __init__(
        self,
        lists: WordsSettings,
        recogniser: WordRecogniser | None,
        spotter: WakeWordSpotter | None,
        silence_ms: int = 500,
    ) -> None:
        """`silence_ms`: the longest time from the last word to the end of its sound."""
        self._longest_stop_ms = _LONGEST_STOP_MS + silence_ms
        self._lists = lists
        self._recogniser = recogniser
        self._spotter = spotter
        self.waiting = False  # set by the caller: the wake word is awaited
        self.rests = False  # set by the caller: only the wake word, under load shedding
        self._turn = 0
        self._frames = 0
        self._asked_at = 0
        self._last = _NOTHING
        self._kind: phrases.PhraseKind = "other"
        self._next_index = 0
        self._near = NearMisses()

    @property
    def watched(self) -> bool:
        """Whether scores of the wake word are sent; a page is open."""
        return self._near.watched

    @watched.setter
    def watched(self, watched: bool) -> None:
        self._near.watched = watched

    def process(self, samples: Samples, index: int, turn: int, flags: int) -> list[WordsNews]:
        """Process one slot of `near`; returns the messages to send."""
        out: list[WordsNews] = []
        if self.waiting and self._spotter is not None:
            out += self._spot_wake_word(self._spotter, samples, index)
        if self.rests:
            self._turn = 0  # the sound under way is incomplete from now on
        elif turn and self._recogniser is not None:
            out += self._recognise(self._recogniser, samples, turn, flags)
        return out

    def _spot_wake_word(
        self, spotter: WakeWordSpotter, samples: Samples, index: int
    ) -> list[WordsNews]:
        """Run the spotter, except on sound before an onset, which `near` repeats."""
        if index + len(samples) <= self._next_index <= index + RATE_HZ:
            return []
        if index != self._next_index:
            spotter.reset()
        self._next_index = index + len(samples)
        score = spotter.process(samples)
        out: list[WordsNews] = []
        if spotter.threshold:
            frames, heard = len(samples), score is not None
            out += self._near.process(
                spotter.score, spotter.threshold, frames, self._next_index, heard=heard
            )
        if score is not None:
            end = self._next_index - spotter.late_frames
            out.append(WakeWordHeard(end, spotter.phrase, score))
        return out

    def _recognise(
        self, recogniser: WordRecogniser, samples: Samples, turn: int, flags: int
    ) -> list[WordsHeard]:
        if flags & START:
            self._turn, self._frames, self._asked_at, self._last = turn, 0, 0, _NOTHING
            recogniser.start()
        elif turn != self._turn:
            return []  # the start of this sound was lost
        if len(samples):
            recogniser.process(np.ascontiguousarray(samples))
            self._frames += len(samples)
        due = self._frames - self._asked_at >= _EVERY_FRAMES and self._frames >= _FIRST_FRAMES
        if not (due or flags & END):
            return []
        self._asked_at = self._frames
        guess = recogniser.hypothesis()
        before = self._last
        if guess.text == before.text:
            guess = WordHypothesis(
                guess.text, max(guess.sure, before.sure)
            )  # silence after a word does not lower `sure`
        self._last = guess
        age_ms = (self._frames - BEFORE_FRAMES) * 1000 // RATE_HZ
        kind = phrases.kind_of(guess.text, self._lists)
        if kind == "stop" and (guess.sure < _LEAST_SURE or age_ms > self._longest_stop_ms):
            kind = "yield"  # it may be a question, which a stop would discard
        if kind == "stop" and guess.text != before.text and not flags & END:
            kind = "yield"  # a hypothesis in the middle of a word is often revised
        known, self._kind = self._kind, kind
        if (guess, kind) == (before, known) or not (guess.text or before.text):
            return []
        return [WordsHeard(turn, age_ms, guess.text, kind, guess.sure)]
