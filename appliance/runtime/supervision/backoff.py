"""Exponential back-off for a process that keeps ending. Pure: times in, pauses out.

A process is restarted for ever; only the pause before its next start grows.
"""

from __future__ import annotations

FIRST_S = 0.25  # pause after the second end in a row; after the first there is none
LONGEST_S = 300.0  # limit for a part that is not needed
LONGEST_NEEDED_S = 30.0  # limit for a needed part; equal to the timeout of systemd's watchdog
FAILED_AT = 5  # strikes from which on the part counts as failed until it is up again
CHRONIC_AT = 8.0  # strikes from which on the part counts as unhealthy although it is up
FORGET_S = 60.0  # working time that cancels one strike; more after a long start:
FORGET_STARTS = 10  # … times the duration of the last start (4 GB from an SD card: 60 s)


class BackOff:
    """Counts strikes: one for each end; they decay while the process works.

    `longest_s` limits the pause. All times are seconds of one monotonic clock.
    """

    def __init__(self, longest_s: float) -> None:
        self._longest_s = longest_s
        self._strikes = 0.0
        self._started_s = 0.0
        self._up_s: float | None = None
        self._forget_s = FORGET_S

    def started(self, now_s: float) -> None:
        """Note a start, or an attempt to start."""
        self._started_s = now_s
        self._up_s = None

    def up(self, now_s: float) -> None:
        """Note that the process is ready."""
        self._up_s = now_s
        self._forget_s = max(FORGET_S, FORGET_STARTS * (now_s - self._started_s))

    def ended(self, now_s: float) -> float:
        """Note an end, or a failed start. Returns the pause before its next start."""
        self._strikes = self.strikes(now_s) + 1
        self._up_s = None
        return self.pause_s

    def strikes(self, now_s: float) -> float:
        """The strikes that have not decayed."""
        if self._up_s is None:
            return self._strikes
        return max(0.0, self._strikes - (now_s - self._up_s) / self._forget_s)

    @property
    def struck(self) -> bool:
        """Whether it has ended at least once."""
        return self._strikes > 0

    @property
    def pause_s(self) -> float:
        """Pause before the next start: 0, 0.25, 0.5, 1, 2, 4 s and so on."""
        if self._strikes < 2:
            return 0.0
        return float(min(self._longest_s, FIRST_S * 2 ** min(self._strikes - 2, 32.0)))

    @property
    def failed(self) -> bool:
        """Whether it has ended too often, and is not up."""
        return self._up_s is None and self._strikes >= FAILED_AT

    def chronic(self, now_s: float) -> bool:
        """Whether it keeps coming up and ending, and has not worked long enough since."""
        return self.strikes(now_s) >= CHRONIC_AT
