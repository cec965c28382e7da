"""Shows a row of the light's table on request, in place of what is so. Pure: time is an argument.

It must deceive nobody for long: it lasts SHOW_S, then what is so is shown for as long at least; and
what is so is shown at once if it changes, or if somebody talks with the box or holds its button.
"""

from __future__ import annotations

import math

from appliance.panel.light import PATTERNS

SHOW_S = 4.0  # the slowest pattern but `idle` is seen once
TRUE = frozenset(
    {"reset_armed", "reset_warning", "setup_warning", "updating", "setup", "recording", "holding",
     "listening", "thinking", "ringing", "speaking"}
)  # fmt: skip  # nothing is shown in their place


class LightDemo:
    """Times are of one monotonic clock, in seconds."""

    def __init__(self) -> None:
        self._name = self._instead_of = ""
        self._until_s = -math.inf

    def request(self, name: str, truth: str, now_s: float) -> bool:
        """Show the row `name` in place of `truth`, which is shown now. False if that cannot be."""
        rests = now_s < self._until_s + SHOW_S
        if name not in PATTERNS or truth in TRUE or rests:
            return False
        self._name, self._instead_of, self._until_s = name, truth, now_s + SHOW_S
        return True

    def shown(self, truth: str, now_s: float) -> str:
        """What to show while `truth` is so."""
        if self._name and (truth != self._instead_of or now_s >= self._until_s):
            self._name = ""
            self._until_s = min(self._until_s, now_s)
        return self._name or truth

    def left_s(self, now_s: float) -> float:
        """Until it is over; infinite while nothing is shown on request."""
        return max(0.0, self._until_s - now_s) if self._name else math.inf
