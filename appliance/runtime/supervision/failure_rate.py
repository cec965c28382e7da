"""When the supervisor gives the box up: a part that it needs ends again and again.

Pure: times in, a verdict out. A part that works for some minutes and then ends does not keep the
box from coming up, nor systemd's watchdog from being fed; only who started it each time knows.
"""

from __future__ import annotations

from collections import deque

ENDS = 6  # of one part: one more than the number from which on it is called failed
WITHIN_S = 900.0  # a part that works for 3 min each time is found, too
TOO_MANY = f"ended {ENDS} times within {WITHIN_S / 60:g} min: the box is given up"
# No code of sysexits(3). The unit does not start the box again for it; interlude-settle decides.
EXIT_CODE = 79


class FailureRate:
    """The newest ends of one part. Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._at_s: deque[float] = deque(maxlen=ENDS)

    def ended(self, now_s: float) -> None:
        """It ended, or could not be started."""
        self._at_s.append(now_s)

    @property
    def too_many(self) -> bool:
        """It ended so often within so short a time."""
        return len(self._at_s) == ENDS and self._at_s[-1] - self._at_s[0] <= WITHIN_S
