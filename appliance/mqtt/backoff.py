"""When to try the broker again: back-off with jitter. Pure.

A broker that is away may be back any moment, and the box is to be right within 5 s of that; one
that refused us will refuse us again, and some lock out who asks too often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Cause = Literal["away", "refused", "taken"]

LONGEST_S: dict[Cause, float] = {
    "away": 3.0,  # with the time to connect, under the 5 s that are promised
    "refused": 60.0,  # login, certificate or protocol: nothing changes until somebody mends it
    "taken": 60.0,  # another box has our name; two of them would push each other out for ever
}
FIRST_S = 0.5


@dataclass
class ReconnectBackOff:
    """Counts failures in a row. `jitter`: 0 to 1, from a random number generator."""

    failures: int = 0

    def failed(self, cause: Cause, jitter: float) -> float:
        """Seconds to wait before the next try: half to the whole of a delay that doubles."""
        delay_s: float = min(LONGEST_S[cause], FIRST_S * 2 ** min(self.failures, 16))
        self.failures += 1
        return delay_s * (0.5 + 0.5 * jitter)

    def succeeded(self) -> None:
        self.failures = 0
