"""Endpointing: start and end of speech from the VAD's probabilities and durations."""

from __future__ import annotations

from appliance.hear.onset.vad import HOP_FRAMES
from appliance.settings import TurnSettings

# 64 ms of silence after the last word are part of the utterance: four hops of the VAD. The VAD
# reports speech for some 60 ms after the last sound, so no final consonant is lost
# (docs/benchmarks/endpoint.md).
TRAILING_FRAMES = 1024
LIKELY_END_FRAMES = TRAILING_FRAMES  # once they are sent, the thinker prefills and samples ahead


class Endpointer:
    """Tracks speech and silence since `start`. Positions count the samples of the listener."""

    def __init__(self, settings: TurnSettings) -> None:
        self._settings = settings
        self.start(0)

    def start(self, at: int) -> None:
        """Start at sample `at`, where a sound begins that is not yet known to be speech."""
        self.onset = at
        self.voiced = False
        self.confirmed = False
        self.spoken_frames = 0
        self.last_voiced = at

    def update(self, probability: float, end: int) -> None:
        """Add the VAD's speech probability for the hop that ended at `end`."""
        settings = self._settings
        self.voiced = probability >= (
            settings.release_probability if self.voiced else settings.probability
        )
        if not self.voiced:
            return
        if self.confirmed:
            self.spoken_frames += HOP_FRAMES
        else:  # the VAD responds to voicing: the sound before it was the first consonant
            self.confirmed = True
            self.spoken_frames = end - self.onset
        self.last_voiced = end

    def silent_frames(self, now: int) -> int:
        return now - self.last_voiced
