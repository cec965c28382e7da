"""Selects the sound of the cleaned microphone that goes into the ring `near`, for word recognition.

In: blocks. Out: slots. Of a sound over the box, or while it thinks, every block from 300 ms before
its detection, with its serial as `stream`; of all else, only while a wake word is awaited, with
`stream` 0.
"""

from __future__ import annotations

from typing import NamedTuple

from appliance.hear.words.interfaces import BEFORE_FRAMES
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, SampleBuffer, Samples
from appliance.runtime.ipc.ring import END, START

_AFTERWARDS_FRAMES = 2 * RATE_HZ  # a "stop" may come when the answer has just ended
_LONGEST_FRAMES = 3 * RATE_HZ  # of one sound: who speaks longer has a question


class KeywordSlot(NamedTuple):
    """One slot: int16[80] from the card's index `at` on, of sound `turn`."""

    samples: Samples
    at: int
    turn: int
    flags: int


class KeywordFeed:
    def __init__(self) -> None:
        self.busy = False  # told from outside: the box thinks or speaks, and may be told to stop
        self.waiting = False  # told from outside: speech goes unheard, but for a wake word
        self._busy_until = 0
        self._past = SampleBuffer(RATE_HZ)
        self._turn = 0
        self._left_out = 0
        self._frames = 0

    def process(self, samples: Samples, index: int, turn: int) -> list[KeywordSlot]:
        """The block at `index`; `turn`: the sound that it belongs to, or 0."""
        self._past.write(index, samples)
        if self.busy:
            self._busy_until = index + _AFTERWARDS_FRAMES
        if turn and turn != self._turn and index >= self._busy_until:
            self._left_out = turn  # a question: nobody's words but the model's
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
