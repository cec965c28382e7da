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
        self._serial = 0
        self._skipped_serial = 0
        self._frames = 0

    def process(self, samples: Samples, index: int, serial: int) -> list[KeywordSlot]:
        """Process the block at `index`; `serial`: that of the sound it belongs to, or 0."""
        self._past.write(index, samples)
        if self.busy:
            self._busy_until = index + _AFTERWARDS_FRAMES
        if serial and serial != self._serial and index >= self._busy_until:
            self._skipped_serial = serial  # a question: only the model processes its words
        if serial == self._skipped_serial:
            serial = 0
        slots: list[KeywordSlot] = []
        if serial != self._serial:
            if self._serial and self._frames < _LONGEST_FRAMES:
                slots.append(KeywordSlot(samples[:0], index, self._serial, END))
            self._serial, self._frames = serial, 0
            if serial:
                first = index - BEFORE_FRAMES
                slots += [self._past_slot(at, first) for at in range(first, index, BLOCK_FRAMES)]
        if serial:
            self._frames += BLOCK_FRAMES
            if self._frames < _LONGEST_FRAMES:
                slots.append(KeywordSlot(samples, index, serial, 0))
            elif self._frames == _LONGEST_FRAMES:
                slots.append(KeywordSlot(samples, index, serial, END))
        elif self.waiting:
            slots.append(KeywordSlot(samples, index, 0, 0))
        return slots

    def _past_slot(self, at: int, first: int) -> KeywordSlot:
        flags = START if at == first else 0
        return KeywordSlot(self._past.read(at, BLOCK_FRAMES), at, self._serial, flags)
