"""Latencies of stopping and answering since the start: p50 and p95. Pure.

Measured in the sound card's samples: a stop from the onset of an interjection to the first silent
sample, an answer from the end of the owner's speech to its first sample.
"""

from __future__ import annotations

from collections import deque

from appliance.messages.hearing import Onset, SpeechEnded
from appliance.messages.playback import PlaybackPaused, PlaybackStarted
from appliance.messages.registry import Message
from appliance.sound_format import RATE_HZ

KEPT = 500  # newest values of each kind
LONGEST_S = 120.0  # a longer delay means that the speech was not the answer's question

Summary = dict[str, float | int | None]


class Figures:
    """`stops_ms`, `answers_ms`: the newest latencies."""

    def __init__(self) -> None:
        self.stops_ms: deque[float] = deque(maxlen=KEPT)
        self.answers_ms: deque[float] = deque(maxlen=KEPT)
        self._onset: Onset | None = None
        self._ended: int | None = None

    def handle(self, message: Message) -> bool:
        """Handle a message. Returns whether there is a new value."""
        match message:
            case Onset(speaking=True):
                self._onset = message
            case PlaybackPaused() if self._onset and message.serial == self._onset.serial:
                late_s = (message.index - self._onset.index) / RATE_HZ
                self._onset = None
                if late_s >= 0:  # negative: playback was silent already, in a dropout
                    self.stops_ms.append(1000 * late_s)
                    return True
            case SpeechEnded(last=True):
                self._ended = message.index if message.frames else None
            case PlaybackStarted() if self._ended is not None:
                late_s = (message.index - self._ended) / RATE_HZ
                self._ended = None
                if 0 <= late_s <= LONGEST_S:
                    self.answers_ms.append(1000 * late_s)
                    return True
        return False

    def summary(self) -> dict[str, Summary]:
        return {"stops": _summary(self.stops_ms), "answers": _summary(self.answers_ms)}


def percentile(values: list[float], share: float) -> float | None:
    """The nearest-rank percentile of sorted values; None if there are none."""
    if not values:
        return None
    return values[max(0, min(len(values) - 1, -(-int(share * 100) * len(values) // 100) - 1))]


def _summary(values: deque[float]) -> Summary:
    ordered = sorted(values)
    p50, p95 = percentile(ordered, 0.5), percentile(ordered, 0.95)
    return {
        "n": len(ordered),
        "p50": None if p50 is None else round(p50),
        "p95": None if p95 is None else round(p95),
    }
