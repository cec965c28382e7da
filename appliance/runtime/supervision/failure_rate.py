"""Decides when the supervisor gives the box up because a needed part keeps ending.

Pure: times in, a decision out. A part that works for some minutes and then ends affects neither the
start of the box nor systemd's watchdog; only the supervisor, which restarts it, can detect it.
"""

from __future__ import annotations

from collections import deque

ENDS = 6  # of one part: one more than backoff.FAILED_AT
WITHIN_S = 900.0  # also detects a part that works for 3 min each time
TOO_MANY = f"ended {ENDS} times within {WITHIN_S / 60:g} min: the box is given up"
# Not in sysexits(3). The unit does not restart the box after it; interlude-settle decides.
EXIT_CODE = 79


class FailureRate:
    """Times of the newest ends of one part, in seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._at_s: deque[float] = deque(maxlen=ENDS)

    def ended(self, now_s: float) -> None:
        """Note an end, or a failed start."""
        self._at_s.append(now_s)

    @property
    def too_many(self) -> bool:
        """Whether the last ENDS ends were within WITHIN_S."""
        return len(self._at_s) == ENDS and self._at_s[-1] - self._at_s[0] <= WITHIN_S
