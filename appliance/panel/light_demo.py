"""Shows a requested row of the light's table in place of the true one. Pure: time is an argument.

A demonstration must not mislead for long: it lasts SHOW_S, and then the true row is shown for at
least as long. If the true row changes, as at speech or a press, it is shown at once.
"""

from __future__ import annotations

import math

from appliance.panel.light import PATTERNS

SHOW_S = 4.0  # one period of every pattern except `idle`
PROTECTED = frozenset(
    {"reset_armed", "reset_warning", "setup_warning", "updating", "setup", "recording", "holding",
     "listening", "thinking", "ringing", "speaking"}
)  # fmt: skip  # never replaced by a demonstration


class LightDemo:
    """One demonstration at a time. Times are of one monotonic clock, in seconds."""

    def __init__(self) -> None:
        self._name = self._replaces = ""
        self._until_s = -math.inf

    def request(self, name: str, actual: str, now_s: float) -> bool:
        """Show the row `name` in place of the true row `actual`. Returns False if it is refused."""
        too_soon = now_s < self._until_s + SHOW_S
        if name not in PATTERNS or actual in PROTECTED or too_soon:
            return False
        self._name, self._replaces, self._until_s = name, actual, now_s + SHOW_S
        return True

    def shown(self, actual: str, now_s: float) -> str:
        """The row to show while `actual` is the true one."""
        if self._name and (actual != self._replaces or now_s >= self._until_s):
            self._name = ""
            self._until_s = min(self._until_s, now_s)
        return self._name or actual

    def left_s(self, now_s: float) -> float:
        """Seconds until the demonstration ends; infinite if there is none."""
        return max(0.0, self._until_s - now_s) if self._name else math.inf
