"""The wake word on the page: its newest scores, the last near misses, and how it would be heard.

Pure. In: messages of the words process. Out: events for browsers, and rows to show. Times are
seconds of CLOCK_MONOTONIC; no word and no sound is in it.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from appliance.messages.hearing import WakeNearMiss, WakeScore, WakeWordHeard
from appliance.messages.registry import Message
from appliance.page.live import Event
from appliance.sound_format import RATE_HZ

KEPT = 10
# Log odds from sensitivity 0 to 1, as hear/words/microwakeword_backend.py has them.
LOG_ODDS_SPAN = 6.0


class WakeRow(NamedTuple):
    """`heard`: it was the wake word; else a near miss, and heard from sensitivity `needed` on,
    None: at none."""

    at_s: float
    score: float
    heard: bool
    needed: float | None


class WakeLog:
    """`sensitivity`: as it is set, 0 to 1."""

    def __init__(self, sensitivity: float) -> None:
        self._sensitivity = sensitivity
        self.rows: deque[WakeRow] = deque(maxlen=KEPT)
        self.tells_scores = False

    def handle(self, message: Message) -> list[Event]:
        """What is new for those who look."""
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
