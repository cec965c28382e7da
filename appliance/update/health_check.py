"""The health check of a release that was just started: a pure function of readings and times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from appliance.runtime.status import UNTOLD, SupervisorStatus

Activity = Literal["active", "starting", "failed", "stopped"]

PATIENCE_S = 200.0  # longer than the unit's TimeoutStartSec=180
# The first prefill of persona, tools and memory extends the limit, to READ_S after the last reading
# that showed it: READ_S = 360 of runtime/supervision/startup.py, plus READ_S here, at most.
READING_PATIENCE_S = 390.0
READ_S = 30.0
STEADY_S = 5.0  # the box has to be healthy for so long without a break


@dataclass(frozen=True)
class HealthReading:
    """State of the service as systemd and the supervisor report it.

    `restarts`: the restarts by systemd itself since the installer asked for a start."""

    activity: Activity
    restarts: int = 0
    status: SupervisorStatus | None = None

    @property
    def talking(self) -> bool:
        return self.activity == "active" and self.status is not None and self.status.talking


@dataclass
class HealthCheck:
    """Judges one start of `version`, compared with the box's status `before` the start.

    A fault that existed before does not count: no release can repair a missing sound card.
    `stale_pid`: of the process that runs until this start has replaced it; 0: that of `before`.
    """

    version: str
    before: SupervisorStatus | None = None
    patience_s: float = PATIENCE_S
    steady_s: float = STEADY_S
    stale_pid: int = 0
    _started_s: float | None = field(default=None, init=False)
    _prefill_s: float = field(default=-PATIENCE_S, init=False)  # last reading that showed a prefill
    _healthy_since_s: float | None = field(default=None, init=False)

    def evaluate(self, reading: HealthReading, now_s: float) -> str | None:
        """What is wrong; "" if the release is healthy; None while that is undecided."""
        if self._started_s is None:
            self._started_s = now_s
        if failure := self._failure(reading):
            return failure
        if self._is_healthy(reading):
            if self._healthy_since_s is None:
                self._healthy_since_s = now_s
            if now_s - self._healthy_since_s >= self.steady_s:
                return ""
        else:
            self._healthy_since_s = None
        if reading.status is not None and reading.status.reading:
            self._prefill_s = now_s
        elapsed_s, prefill_s = now_s - self._started_s, self._prefill_s - self._started_s
        if elapsed_s >= max(self.patience_s, min(READING_PATIENCE_S, prefill_s + READ_S)):
            return f"it was not well within {elapsed_s:.0f} s ({_describe(reading)})"
        return None

    def _failure(self, reading: HealthReading) -> str:
        if reading.activity == "failed":
            return "it failed to start"
        if reading.restarts:
            return "it ended by itself"
        status = reading.status
        if status is None or self._is_stale(status):
            return ""  # not started yet, or the process before has not stopped yet
        if status.version not in (self.version, UNTOLD):
            return f"{status.version} was started in its place"
        if failed := sorted(set(status.failed) - self._excused):
            return f"{', '.join(failed)} failed again and again"
        return ""

    def _is_healthy(self, reading: HealthReading) -> bool:
        status = reading.status
        if reading.activity != "active" or status is None or self._is_stale(status):
            return False
        was_unfit = self.before is not None and not self.before.healthy
        # If the box did not run before, it is unknown whether it has a sound card at all.
        was_failed = self.before is None or self.before.state == "failed"
        return (
            status.ready
            and (status.healthy or was_unfit)
            and (status.state != "failed" or was_failed)
        )

    def _is_stale(self, status: SupervisorStatus) -> bool:
        before = self.before.pid if self.before is not None else 0
        return status.pid == (self.stale_pid or before)

    @property
    def _excused(self) -> set[str]:
        return set(self.before.failed) if self.before is not None else set()


def _describe(reading: HealthReading) -> str:
    if reading.status is None:
        return f"the service is {reading.activity}"
    suffix = "" if reading.status.ready else ", not ready"
    return f"{reading.status.version} is {reading.status.state}{suffix}"
