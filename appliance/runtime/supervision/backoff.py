"""Exponential back-off of a process that ends again and again. Pure: times in, pauses out.

A process is started again for ever; what grows is the pause before its next start.
"""

from __future__ import annotations

FIRST_S = 0.25  # before the second start in a row; before the first there is none
LONGEST_S = 300.0  # of a process that the box can do without
LONGEST_NEEDED_S = 30.0  # of one that it needs; as long as systemd's watchdog waits
FAILED_AT = 5  # ends in a row from which on the process is called failed until it is up again
CHRONIC_AT = 8.0  # strikes from which on it is not trusted although it is up
FORGET_S = 60.0  # of work make up for one end; more where a start takes long:
FORGET_STARTS = 10  # … so many times as long as the last start took (4 GB from an SD card: 60 s)


class BackOff:
    """Counts strikes: one for each end, taken back slowly while the process works.

    `longest_s` limits the pause. All times are seconds of one monotonic clock.
    """

    def __init__(self, longest_s: float) -> None:
        self._longest_s = longest_s
        self._strikes = 0.0
        self._started_s = 0.0
        self._up_s: float | None = None
        self._forget_s = FORGET_S

    def started(self, now_s: float) -> None:
        """It was started, or an attempt to start it was made."""
        self._started_s = now_s
        self._up_s = None

    def up(self, now_s: float) -> None:
        """It does its work from now on."""
        self._up_s = now_s
        self._forget_s = max(FORGET_S, FORGET_STARTS * (now_s - self._started_s))

    def ended(self, now_s: float) -> float:
        """It ended, or could not be started. Returns the pause before its next start."""
        self._strikes = self.strikes(now_s) + 1
        self._up_s = None
        return self.pause_s

    def strikes(self, now_s: float) -> float:
        """Ends that are not made up for."""
        if self._up_s is None:
            return self._strikes
        return max(0.0, self._strikes - (now_s - self._up_s) / self._forget_s)

    @property
    def struck(self) -> bool:
        """It has ended at least once."""
        return self._strikes > 0

    @property
    def pause_s(self) -> float:
        """Before the next start: 0, 0.25, 0.5, 1, 2, 4 s and so on."""
        if self._strikes < 2:
            return 0.0
        return float(min(self._longest_s, FIRST_S * 2 ** min(self._strikes - 2, 32.0)))

    @property
    def failed(self) -> bool:
        """It has ended too often, and is not up."""
        return self._up_s is None and self._strikes >= FAILED_AT

    def chronic(self, now_s: float) -> bool:
        """It comes up and ends all the time, and has not yet worked for long since."""
        return self.strikes(now_s) >= CHRONIC_AT
