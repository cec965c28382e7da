"""A player with scripted input slots and recorded output."""

from __future__ import annotations

from collections import deque
from typing import TypeVar

import numpy as np

from appliance.audio.player import FadeProfile, PlaybackEvent, Player
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.pcm import Samples
from appliance.runtime.ipc.ring import END, START, WORD, RingSlot

BLOCK = 80
RAMP = 32
FIRST = 1_000_000  # index of the first block


E = TypeVar(
    "E", PlaybackStarted, PlaybackPaused, PlaybackResumed, PlaybackFinished, PlaybackStopped
)


class Bench:
    """A player, its pending input slots, and its samples and events so far."""

    def __init__(
        self,
        *,
        block: int = BLOCK,
        ramp: int = RAMP,
        up: int = 0,
        volume: float = 1.0,
        rewind_after: int = 0,
        duck: float = 0.0,
    ) -> None:
        self.slots: deque[RingSlot] = deque()
        self.player = Player(
            lambda: self.slots.popleft() if self.slots else None,
            FadeProfile(ramp, up or ramp, rewind_after, duck),
            block_frames=block,
            volume=volume,
        )
        self.turn, self.hold, self.released, self.pressed = 1, 0, 0, False
        self.sent = np.empty(0, np.int16)
        self.events: list[PlaybackEvent] = []
        self.voiced: list[tuple[int, int, int]] = []  # (index, position, turn) of blocks with voice

    def offer(
        self,
        turn: int,
        samples: Samples,
        *,
        slot: int = 320,
        position: int = 0,
        end: bool = True,
        words: tuple[int, ...] = (),
    ) -> None:
        """Queue an answer. `words` are the samples at which words begin; each starts a slot."""
        cuts = sorted({*range(0, max(1, len(samples)), slot), *words})
        for at, following in zip(cuts, [*cuts[1:], len(samples)], strict=True):
            flags = START * (position + at == 0) | END * (end and following >= len(samples))
            flags |= WORD * (at in words)
            self.slots.append(RingSlot(0, 0, position + at, 0, turn, flags, samples[at:following]))

    def go(self, blocks: int = 1) -> None:
        for _ in range(blocks):
            index = FIRST + len(self.sent)
            block = self.player.next_block(
                self.turn, self.hold, self.released, index, pressed=self.pressed
            )
            assert block.index == index
            if block.turn:
                self.voiced.append((index, block.position, block.turn))
            self.sent = np.concatenate((self.sent, block.samples))
            self.events.extend(block.events)

    def refuse(self) -> None:
        """The card refuses the next block and restarts with three blocks of silence."""
        index = FIRST + len(self.sent)
        self.player.next_block(self.turn, self.hold, self.released, index, pressed=self.pressed)
        self.player.take_back()
        self.player.on_dropout()
        self.sent = np.concatenate((self.sent, np.zeros(3 * BLOCK, np.int16)))

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def from_index(self, first: int, last: int) -> Samples:
        return self.sent[first - FIRST : last - FIRST]


def assert_smooth(bench: Bench, answer: Samples, ramp: int) -> None:
    """Every voiced sample is the answer's at its position, times a gain that changes smoothly."""
    ends = [position for _, position, _ in bench.voiced[1:]] + [len(answer)]
    gains = np.concatenate([
        bench.from_index(index, index + end - position) / answer[position:end]
        for (index, position, _), end in zip(bench.voiced, ends, strict=True)
    ])  # fmt: skip
    assert gains.min() > -1e-3
    assert gains.max() < 1 + 1e-3
    gone_on = np.diff([v[0] for v in bench.voiced]) == np.diff([v[1] for v in bench.voiced])
    steps = np.abs(np.diff(gains))
    silences = np.array([v[1] for v in bench.voiced[1:]])[~gone_on] - 1
    assert np.delete(steps, silences).max(initial=0) <= np.pi / 2 / ramp + 1e-3
