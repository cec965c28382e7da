"""Selects the sound, after echo cancellation, for the word recogniser's ring `near`.

In: blocks. Out: slots. A sound during an answer, or while the model thinks, is fed from 300 ms
before its detection on, with its serial as `stream`. Other sound is fed only while a wake word is
awaited, with `stream` 0.
"""

from __future__ import annotations

from typing import NamedTuple

from appliance.hear.words.interfaces import BEFORE_FRAMES
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, SampleBuffer, Samples
from appliance.runtime.ipc.ring import END, START

_AFTERWARDS_FRAMES = 2 * RATE_HZ  # for a "stop" just after the end of an answer
_LONGEST_FRAMES = 3 * RATE_HZ  # of one sound; longer speech is a question


class KeywordSlot(NamedTuple):
    """One slot: int16[80] from the card's index `at` on, of sound `turn`."""

    samples: Samples
    at: int
    turn: int
    flags: int


class KeywordFeed:
    """Takes every block and returns the slots for the ring."""

    def __init__(self) -> None:
        self.busy = False  # set by the caller: the box thinks or speaks, and can be stopped
        self.waiting = False  # set by the caller: only a wake word is accepted
        self._busy_until = 0
        self._past = SampleBuffer(RATE_HZ)
        self._turn = 0
        self._left_out = 0
        self._frames = 0

    def process(self, samples: Samples, index: int, turn: int) -> list[KeywordSlot]:
        """Process the block at `index`; `turn`: serial of the sound that it belongs to, or 0."""
        self._past.write(index, samples)
        if self.busy:
            self._busy_until = index + _AFTERWARDS_FRAMES
        if turn and turn != self._turn and index >= self._busy_until:
            self._left_out = turn  # a question: only the model processes its words
        if turn == self._left_out:
            turn = 0
        out: list[KeywordSlot] = []
        if turn != self._turn:
            if self._turn and self._frames < _LONGEST_FRAMES:
                out.append(KeywordSlot(samples[:0], index, self._turn, END))
            self._turn, self._frames = turn, 0
            if turn:
                first = index - BEFORE_FRAMES
                out += [self._again(at, first) for at in range(first, index, BLOCK_FRAMES)]
        if turn:
            self._frames += BLOCK_FRAMES
            if self._frames < _LONGEST_FRAMES:
                out.append(KeywordSlot(samples, index, turn, 0))
            elif self._frames == _LONGEST_FRAMES:
                out.append(KeywordSlot(samples, index, turn, END))
        elif self.waiting:
            out.append(KeywordSlot(samples, index, 0, 0))
        return out

    def _again(self, at: int, first: int) -> KeywordSlot:
        flags = START if at == first else 0
        return KeywordSlot(self._past.read(at, BLOCK_FRAMES), at, self._turn, flags)
