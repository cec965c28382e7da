"""Decides when a canceller without attenuation tries a new estimate of the echo path.

Without an echo (an amplifier that is off, a card that cancels by itself) the filter converges to
none with a low uncertainty, and then hardly adapts. So while there is no attenuation, a second
estimate with full uncertainty is tried from time to time. That doubles the CPU time for 4 s.
"""

from __future__ import annotations

RISE = 10.0  # of the ratio of heard to played; steady noise, at LOUD, causes less than 4
RISES_AFTER_S = 2.0  # of sound, between two rises: speech over the box causes rises, too
AGAIN_S = 30.0  # of sound, between two tries: an echo from the start on causes no rise
LOUD = 0.25  # share of the recently loudest; in softer windows the room's noise would count
LOUDEST_KEPT = 0.999  # decay of the loudest, per update
LEAST_KEPT = 1.01  # growth of the lowest ratio, per update, so that it follows rising noise


class EchoSearch:
    """The state of the search; `is_due` is called at every update with little attenuation."""

    def __init__(self) -> None:
        self._loudest = 0.0
        self._least: float | None = None
        self._since_s = self._since_rise_s = AGAIN_S  # a first try is due

    def is_due(
        self, mic_power: float, played_power: float, seconds: float, *, resting: bool
    ) -> bool:
        """Whether to start a try now. heard, sent: mean squares of the newest window of microphone
        and loudspeaker; seconds: of sound, since the last call. `resting`: after a first try
        without success, try only at a rise."""
        first_try = self._least is None
        self._since_s += seconds
        self._since_rise_s += seconds
        self._loudest = max(played_power, LOUDEST_KEPT * self._loudest)
        rises = False
        if played_power >= LOUD * self._loudest:
            ratio = mic_power / played_power
            least = ratio if self._least is None else self._least
            rises = ratio > RISE * least and self._since_rise_s >= RISES_AFTER_S
            self._least = min(ratio, LEAST_KEPT * least)
        due = rises or (self._since_s >= AGAIN_S and (first_try or not resting))
        if due:
            self._since_s = 0.0
        if rises:
            self._since_rise_s = 0.0
        return due
