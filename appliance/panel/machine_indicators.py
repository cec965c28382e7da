"""Conditions of the machine that the light shows: too hot, updating, set-up, fetching a model.

The panel reads them from files every LOOK_S; no other process has to report them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from appliance.models.store import ModelStore
from appliance.runtime import network_status
from appliance.runtime.factory_reset import unfinished
from appliance.runtime.machine import Machine
from appliance.update.release.store import TRIAL
from appliance.update.request import PROGRESS, read_progress

LOOK_S = 5.0  # between two readings
HOT_C, COOL_C = 80.0, 77.0  # a Pi throttles from 80 on; the hysteresis avoids flickering
STALE_S = 1800.0  # an installation without progress for so long was killed: its unit's limit
FETCHING_S = 60.0  # a file that has not grown for so long is not being downloaded


@dataclass
class MachineIndicators:
    """`seen`: conditions that were true at the last reading, by the names of the light's table."""

    machine: Machine
    store: ModelStore
    trial: Path = TRIAL
    network: Path = network_status.FOLDER
    state: Path | None = None
    seen: frozenset[str] = frozenset()
    _next_s: float = field(default=float("-inf"), init=False)

    def poll(self, now_s: float) -> frozenset[str]:
        """The true conditions, read at most once in LOOK_S. `now_s`: CLOCK_MONOTONIC."""
        if now_s >= self._next_s:
            self._next_s = now_s + LOOK_S
            conditions = {
                "too_hot": self._hot(),
                "updating": self._updating(),
                "fetching": self._fetching(),
                "failed": self.state is not None and unfinished(self.state),
                "setup": bool(network_status.read_status(self.network).setup),
            }
            self.seen = frozenset(name for name, holds in conditions.items() if holds)
        return self.seen

    def _hot(self) -> bool:
        slowed, _ = self.machine.throttled()
        degrees = self.machine.temperature_c()
        limit = COOL_C if "too_hot" in self.seen else HOT_C
        return bool(slowed) or (degrees is not None and degrees >= limit)

    def _updating(self) -> bool:
        step = read_progress(self.trial).step
        return bool(step) and _age_s(self.trial / PROGRESS) < STALE_S

    def _fetching(self) -> bool:
        files = (
            self.store.partial(m, f) for m in self.store.models.values() for f in m.files.values()
        )
        return any(_age_s(path) < FETCHING_S for path in files)


def _age_s(path: Path) -> float:
    """Seconds since the last write; infinite if there is no file. The clock may have been set
    since: a time in the future counts as fresh."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return float("inf")
