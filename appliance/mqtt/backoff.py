"""Delay before the next connection attempt: exponential back-off with jitter. Pure.

A broker that is away may return at any moment, and the box must be up to date within 5 s of that. A
broker that refused the login will refuse it again, and some lock out clients that retry too often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Cause = Literal["away", "refused", "taken"]

LONGEST_S: dict[Cause, float] = {
    "away": 3.0,  # with the time to connect, under the promised 5 s
    "refused": 60.0,  # login, certificate or protocol: only the owner can correct these
    "taken": 60.0,  # another box has the same client id; the two would disconnect each other
}
FIRST_S = 0.5


@dataclass
class ReconnectBackOff:
    """Counts consecutive failures. `jitter`: 0 to 1, from a random number generator."""

    failures: int = 0

    def failed(self, cause: Cause, jitter: float) -> float:
        """Seconds to wait before the next attempt: 50 to 100 % of a delay that doubles."""
        delay_s: float = min(LONGEST_S[cause], FIRST_S * 2 ** min(self.failures, 16))
        self.failures += 1
        return delay_s * (0.5 + 0.5 * jitter)

    def succeeded(self) -> None:
        self.failures = 0
