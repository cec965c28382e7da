"""The listening mode: which speech is accepted, as set by the conductor's SetListening.

In: `SetListening` messages and the VAD's probability of each hop. Out: whether a sound is accepted,
and where an utterance starts.
"""

from __future__ import annotations

from collections import deque

from appliance.hear.onset.vad import HOP_FRAMES
from appliance.messages.hearing import SetListening
from appliance.pcm import RATE_HZ

_LATE_FRAMES = 4 * RATE_HZ  # a wake word is reported at most this long after its end


class ListeningMode:
    """Accepts or rejects sounds. Positions count the listener's samples; those of `SetListening`
    are indexes of the card."""

    def __init__(self) -> None:
        self.now = SetListening(True)
        self._hops: deque[tuple[float, int]] = deque(maxlen=_LATE_FRAMES // HOP_FRAMES)
        self._not_before = 0

    def accepts(self, over_box: bool) -> bool:
        """Whether a sound that begins now may cause an onset."""
        return self.now.over_box if over_box else self.now.on

    def add_probability(self, probability: float, end: int) -> None:
        """Add the VAD's speech probability for the hop that ended at `end`."""
        self._hops.append((probability, end))

    def probabilities_since(self, at: int) -> list[tuple[float, int]]:
        """(probability, end) of the hops that began at `at` or later."""
        return [(probability, end) for probability, end in self._hops if end - HOP_FRAMES >= at]

    def on_wake_word(self, at: int) -> None:
        """A wake word ended at `at`: no utterance may include sound from before."""
        self._not_before = at

    def utterance_start(self, onset: int, preroll: int) -> int:
        """First sample of an utterance with its onset at `onset`."""
        return max(onset - preroll, self._not_before)
