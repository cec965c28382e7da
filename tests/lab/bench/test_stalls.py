"""A dropout is excused only if the machine itself stalled."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time

import pytest

from lab.bench.stalls import LATE_NS, PRIORITY, REPORT_DELAY_NS, NotRealTime, StallWatch, watch

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("told_ns", "excused"),
    [
        (10 * SECOND - 1, False),  # before the stall
        (10 * SECOND, True),
        (10 * SECOND + 8_000_000 + REPORT_DELAY_NS, True),
        (10 * SECOND + 8_000_001 + REPORT_DELAY_NS, False),
    ],
)
def test_a_dropout_is_excused_by_a_stall_just_before_it(told_ns: int, *, excused: bool) -> None:
    watched = StallWatch([(3 * SECOND, LATE_NS), (10 * SECOND, 8_000_000)])
    assert watched.excuses(told_ns) == excused


def test_without_a_stall_nothing_is_excused() -> None:
    assert StallWatch().excused([0, SECOND]) == 0


def permitted() -> bool:
    """Whether this user may use real-time priority on this machine."""
    program = f"import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param({PRIORITY}))"
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    return done.returncode == 0


@pytest.mark.process
def test_late_wake_ups_are_recorded_or_missing_permission_is_reported() -> None:
    began = time.monotonic_ns()
    core = min(os.sched_getaffinity(0))
    refused = pytest.raises(NotRealTime, match="ulimit -r")
    with contextlib.nullcontext() if permitted() else refused, watch(core) as watched:
        time.sleep(0.3)
        assert watched.stalls == []  # not complete yet
    if permitted():
        assert all(began <= due and late >= LATE_NS for due, late in watched.stalls)
