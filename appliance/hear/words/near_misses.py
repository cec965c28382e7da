"""Detects near misses of the wake word: peaks of its score just below the threshold. Pure.

In: the spotter's newest score, block by block. Out: a WakeNearMiss at the end of each near miss,
and a WakeScore five times a second while a page is open. It keeps scores and times only, no sound.
"""

from __future__ import annotations

import math

from appliance.messages.hearing import WakeNearMiss, WakeScore
from appliance.pcm import RATE_HZ

NEAR_LOG_ODDS = 4.0  # below the threshold: a little more than the highest sensitivity detects
_OVER_FRAMES = RATE_HZ // 2  # below that until the miss is over; a phrase has several peaks
_AFTER_FRAMES = RATE_HZ  # ignored after the wake word, whose end is no near miss
_SCORE_FRAMES = RATE_HZ // 5


class NearMisses:
    """Follows the scores of the spotter. `watched`: send WakeScore, too."""

    def __init__(self) -> None:
        self.watched = False
        self._peak: tuple[float, int] | None = None  # highest score of the miss, its index
        self._low_frames = self._ignored_frames = self._score_frames = 0
        self._highest = 0.0

    def process(
        self, score: float, threshold: float, frames: int, index: int, *, heard: bool
    ) -> list[WakeNearMiss | WakeScore]:
        """Add the `score` after `frames` more samples, which end before card index `index`.
        `heard`: the wake word was detected in them."""
        messages: list[WakeNearMiss | WakeScore] = []
        self._highest = max(self._highest, score)
        self._score_frames += frames
        if self._score_frames >= _SCORE_FRAMES:
            if self.watched:
                messages.append(WakeScore(round(min(1.0, self._highest), 3), round(threshold, 3)))
            self._highest, self._score_frames = 0.0, 0
        if heard:
            self._peak, self._ignored_frames = None, _AFTER_FRAMES
            return messages
        self._ignored_frames = max(0, self._ignored_frames - frames)
        if self._ignored_frames:
            return messages
        if log_odds(score) >= log_odds(threshold) - NEAR_LOG_ODDS:
            self._low_frames = 0
            if self._peak is None or score > self._peak[0]:
                self._peak = score, index
            return messages
        self._low_frames += frames
        if self._peak is not None and self._low_frames >= _OVER_FRAMES:
            (peak, at), self._peak = self._peak, None
            short = max(0.0, log_odds(threshold) - log_odds(peak))
            messages.append(
                WakeNearMiss(at, round(min(1.0, peak), 3), round(threshold, 3), round(short, 2))
            )
        return messages


def log_odds(probability: float) -> float:
    clamped = min(1 - 1e-6, max(1e-6, probability))
    return math.log(clamped / (1 - clamped))
