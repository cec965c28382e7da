"""The listening mode: which speech is accepted, by the conductor's word on mode and button.

In: `SetListening` messages and the network's word on each hop. Out: yes or no, and where to begin.
"""

from __future__ import annotations

from collections import deque

from appliance.hear.onset.vad import HOP_FRAMES
from appliance.messages.hearing import SetListening
from appliance.pcm import RATE_HZ

_LATE_FRAMES = 4 * RATE_HZ  # a wake word is told of at most so long after its end


class ListeningMode:
    """Positions are samples on the listener's own count, except those of `SetListening`: the
    card's."""

    def __init__(self) -> None:
        self.now = SetListening(True)
        self._hops: deque[tuple[float, int]] = deque(maxlen=_LATE_FRAMES // HOP_FRAMES)
        self._not_before = 0

    def accepts(self, over_box: bool) -> bool:
        """Whether a sound that begins now is to be told of."""
        return self.now.over_box if over_box else self.now.on

    def add_probability(self, probability: float, end: int) -> None:
        """The network's word on the hop that ended at `end`."""
        self._hops.append((probability, end))

    def probabilities_since(self, at: int) -> list[tuple[float, int]]:
        """The hops that began at `at` or later."""
        return [(probability, end) for probability, end in self._hops if end - HOP_FRAMES >= at]

    def on_wake_word(self, at: int) -> None:
        """A wake word ended at `at`: no utterance holds anything of it."""
        self._not_before = at

    def utterance_start(self, onset: int, preroll: int) -> int:
        """Where an utterance begins whose onset was at `onset`."""
        return max(onset - preroll, self._not_before)
