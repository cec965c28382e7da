"""When a canceller that takes nothing away looks for an echo anew.

Without an echo (an amplifier that is off, a card that cancels by itself) it learns that there is
none, and is sure of it; from then on it hardly learns. So while it takes nothing away, a second
estimate that is unsure of everything is tried now and then. It costs as much again for 4 s.
"""

from __future__ import annotations

RISE = 10.0  # of what is heard for what is played; a steady noise, at LOUD, makes less than 4 of it
RISES_AFTER_S = 2.0  # of sounding, from rise to rise: who speaks over the box makes it rise, too
AGAIN_S = 30.0  # of sounding, from try to try: what was there from the beginning does not rise
LOUD = 0.25  # of the loudest that was played lately: softer, and the room's noise would count
LOUDEST_KEPT = 0.999  # from update to update
LEAST_KEPT = 1.01  # the same of the least that was heard for it: it follows a rising noise


class EchoSearch:
    """Asked at every update while little is taken away."""

    def __init__(self) -> None:
        self._loudest = 0.0
        self._least: float | None = None
        self._since_s = self._since_rise_s = AGAIN_S  # nothing was tried yet

    def is_due(self, heard: float, sent: float, seconds: float, *, resting: bool) -> bool:
        """Whether to try now. heard, sent: mean squares of the newest window of microphone and
        loudspeaker; seconds: of sounding, since the last call. `resting`: at a rise alone, once a
        first try was in vain."""
        first = self._least is None
        self._since_s += seconds
        self._since_rise_s += seconds
        self._loudest = max(sent, LOUDEST_KEPT * self._loudest)
        rises = False
        if sent >= LOUD * self._loudest:
            ratio = heard / sent
            least = ratio if self._least is None else self._least
            rises = ratio > RISE * least and self._since_rise_s >= RISES_AFTER_S
            self._least = min(ratio, LEAST_KEPT * least)
        due = rises or (self._since_s >= AGAIN_S and (first or not resting))
        if due:
            self._since_s = 0.0
        if rises:
            self._since_rise_s = 0.0
        return due
