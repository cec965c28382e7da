"""Endpointing: start and end of speech from the VAD's probabilities and durations."""

from __future__ import annotations

from appliance.hear.onset.vad import HOP_FRAMES
from appliance.settings import TurnSettings

# 64 ms of silence go out after the last word, four hops of the network. It hears speech some 60 ms
# beyond the last sound, so no final consonant is lost (docs/benchmarks/endpoint.md).
TRAILING_FRAMES = 1024
LIKELY_END_FRAMES = TRAILING_FRAMES  # when all of it has gone out, reading on and drawing begin


class Endpointer:
    """What the owner has said since `start`. Positions are samples on the listener's own count."""

    def __init__(self, settings: TurnSettings) -> None:
        self._settings = settings
        self.start(0)

    def start(self, at: int) -> None:
        """A sound begins at `at`; nothing says yet that it is speech."""
        self._at = at
        self.voiced = False
        self.confirmed = False
        self.spoken_frames = 0
        self.last_voiced = at

    def update(self, probability: float, end: int) -> None:
        """The network's word on the hop that ended at `end`."""
        settings = self._settings
        self.voiced = probability >= (
            settings.release_probability if self.voiced else settings.probability
        )
        if not self.voiced:
            return
        if self.confirmed:
            self.spoken_frames += HOP_FRAMES
        else:  # the network waits for voicing: what came before it was the first consonant
            self.confirmed = True
            self.spoken_frames = end - self._at
        self.last_voiced = end

    def silent_frames(self, now: int) -> int:
        return now - self.last_voiced
