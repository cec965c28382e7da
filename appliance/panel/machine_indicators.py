"""What the light shows of the machine: too hot, updated, waiting to be set up, fetching a model.

Read off the disk, now and then; nobody has to tell the panel.
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

LOOK_S = 5.0  # between two looks
HOT_C, COOL_C = 80.0, 77.0  # a Pi slows down from 80 on; the gap keeps the light from flickering
STALE_S = 1800.0  # an installation that has not moved for so long was killed: its unit's limit
FETCHING_S = 60.0  # a file that has not grown for so long is no download under way


@dataclass
class MachineIndicators:
    """`seen` is what was so at the last reading, by the names of the light's table."""

    machine: Machine
    store: ModelStore
    trial: Path = TRIAL
    network: Path = network_status.FOLDER
    state: Path | None = None
    seen: frozenset[str] = frozenset()
    _next_s: float = field(default=float("-inf"), init=False)

    def poll(self, now_s: float) -> frozenset[str]:
        """`now_s`: CLOCK_MONOTONIC. Looks at most once in LOOK_S."""
        if now_s >= self._next_s:
            self._next_s = now_s + LOOK_S
            true = {
                "too_hot": self._hot(),
                "updating": self._updating(),
                "fetching": self._fetching(),
                "failed": self.state is not None and unfinished(self.state),
                "setup": bool(network_status.read_status(self.network).setup),
            }
            self.seen = frozenset(name for name, so in true.items() if so)
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
    """Since it was written last; infinite if it is not there. The clock may have been set since:
    what lies in the future is fresh."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return float("inf")
