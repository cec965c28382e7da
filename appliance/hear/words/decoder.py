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
from appliance.messages.hearing import (
    PhraseKind,
    WakeNearMiss,
    WakeScore,
    WakeWordHeard,
    WordsHeard,
)
from appliance.pcm import RATE_HZ, Samples
from appliance.runtime.ipc.ring import END, START
from appliance.settings import WordsSettings

_FIRST_FRAMES = BEFORE_FRAMES + RATE_HZ // 5  # 200 ms of a sound before the first hypothesis
_EVERY_FRAMES = RATE_HZ * 12 // 100  # 120 ms: five times before the verdict's deadline
_DEADLINE_FRAMES = BEFORE_FRAMES + RATE_HZ * 7 // 10  # 700 ms after the onset
# Afterwards: each hypothesis costs as much as the whole sound, and only a "stop" still matters.
_LATER_FRAMES = RATE_HZ * 36 // 100
# The least confidence in a text of nothing but such phrases. Stop: 43 of 60 recorded words reach it
# and 1 of 150 others. Repeat: 48 of 60 phrases by espeak-ng reach it; what else does is in
# docs/turns.md.
_LEAST_SURE: dict[PhraseKind, float] = {"stop": 0.2, "repeat": 0.7}
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
        self._serial = 0
        self._frames = 0
        self._decoded_frames = 0
        self._hypothesis = _NOTHING
        self._last_kind: PhraseKind = "other"
        self._next_index = 0
        self._near_misses = NearMisses()

    @property
    def watched(self) -> bool:
        """Whether scores of the wake word are sent; a page is open."""
        return self._near_misses.watched

    @watched.setter
    def watched(self, watched: bool) -> None:
        self._near_misses.watched = watched

    def process(self, samples: Samples, index: int, serial: int, flags: int) -> list[WordsNews]:
        """Process one slot of `near`; returns the messages to send."""
        messages: list[WordsNews] = []
        if self.waiting and self._spotter is not None:
            messages += self._spot_wake_word(self._spotter, samples, index)
        if self.rests:
            self._serial = 0  # the sound under way is incomplete from now on
        elif serial and self._recogniser is not None:
            messages += self._recognise(self._recogniser, samples, serial, flags)
        return messages

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
        messages: list[WordsNews] = []
        if spotter.threshold:
            frames, heard = len(samples), score is not None
            messages += self._near_misses.process(
                spotter.score, spotter.threshold, frames, self._next_index, heard=heard
            )
        if score is not None:
            end = self._next_index - spotter.late_frames
            messages.append(WakeWordHeard(end, spotter.phrase, score))
        return messages

    def _recognise(
        self, recogniser: WordRecogniser, samples: Samples, serial: int, flags: int
    ) -> list[WordsHeard]:
        if flags & START:
            self._serial, self._hypothesis = serial, _NOTHING
            self._frames = self._decoded_frames = 0
            recogniser.start()
        elif serial != self._serial:
            return []  # the start of this sound was lost
        if len(samples):
            recogniser.process(np.ascontiguousarray(samples))
            self._frames += len(samples)
        every = _EVERY_FRAMES if self._frames < _DEADLINE_FRAMES else _LATER_FRAMES
        due = self._frames - self._decoded_frames >= every and self._frames >= _FIRST_FRAMES
        if not (due or flags & END):
            return []
        self._decoded_frames = self._frames
        hypothesis = recogniser.hypothesis()
        previous = self._hypothesis
        if hypothesis.text == previous.text:
            # Silence after a word does not lower `sure`.
            hypothesis = hypothesis._replace(sure=max(hypothesis.sure, previous.sure))
        self._hypothesis = hypothesis
        age_ms = (self._frames - BEFORE_FRAMES) * 1000 // RATE_HZ
        kind = phrases.kind_of(hypothesis.text, self._lists)
        unsure = hypothesis.sure < _LEAST_SURE.get(kind, 0.0)
        if unsure or (kind in _LEAST_SURE and age_ms > self._longest_stop_ms):
            kind = "yield"  # it may be a question, which either would discard
        if kind == "stop" and hypothesis.text != previous.text and not flags & END:
            kind = "yield"  # a hypothesis in the middle of a word is often revised
        previous_kind, self._last_kind = self._last_kind, kind
        unchanged = (hypothesis, kind) == (previous, previous_kind)
        if unchanged or not (hypothesis.text or previous.text):
            return []
        return [WordsHeard(serial, age_ms, hypothesis.text, kind, hypothesis.sure)]
