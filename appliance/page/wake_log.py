"""The wake word on the page: current scores, the last detections and near misses, and the
sensitivity that each near miss would have needed.

Pure. In: messages of the words process. Out: events for browsers, and rows to show. Times are
seconds of CLOCK_MONOTONIC. It contains no spoken text and no sound.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from appliance.messages.hearing import WakeNearMiss, WakeScore, WakeWordHeard
from appliance.messages.registry import Message
from appliance.page.live import Event
from appliance.sound_format import RATE_HZ

KEPT = 10
# Range of log odds from sensitivity 0 to 1, as in hear/words/microwakeword_backend.py.
LOG_ODDS_SPAN = 6.0


class WakeRow(NamedTuple):
    """`heard`: the wake word was detected; otherwise a near miss, detected from sensitivity
    `needed` on; None: at no sensitivity."""

    at_s: float
    score: float
    heard: bool
    needed: float | None


class WakeLog:
    """Keeps the last rows. `sensitivity`: the setting, 0 to 1."""

    def __init__(self, sensitivity: float) -> None:
        self._sensitivity = sensitivity
        self.rows: deque[WakeRow] = deque(maxlen=KEPT)
        self.tells_scores = False

    def handle(self, message: Message) -> list[Event]:
        """Handle a message. Returns events for browsers."""
        match message:
            case WakeScore(score, threshold):
                self.tells_scores = True
                return [{"k": "score", "p": score, "over": threshold}]
            case WakeNearMiss(index, score, _, short):
                needed = self._sensitivity + short / LOG_ODDS_SPAN
                row = WakeRow(index / RATE_HZ, score, False, needed if needed <= 1.0 else None)
            case WakeWordHeard(index, _, score):
                row = WakeRow(index / RATE_HZ, score, True, self._sensitivity)
            case _:
                return []
        self.rows.appendleft(row)
        return [{"k": "trial", "phase": "near"}]
