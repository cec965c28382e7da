"""The live half of the interruption bench: its rooms, and its events as trials."""

from __future__ import annotations

from typing import get_args

import pytest

from lab.bench.interruption_live import ROOMS, SEAMS, STOPS, as_trial, conditions
from lab.bench.interruption_plan import Effort


def test_a_live_event_is_converted_to_a_trial() -> None:
    event = {"by": "ours", "word": "real", "name": "stop/anna_0", "click": True,
             "left_out": "", "missed": False, "last_ms": 21.5, "decided_ms": 9.0}  # fmt: skip
    read = as_trial(event)
    assert (read.real, read.clear, read.stop_ms) == (True, False, 21.5)
    assert as_trial(event | {"missed": True, "last_ms": None}).missed


def test_a_quick_run_uses_one_room_and_other_runs_use_all() -> None:
    assert conditions("quick") == ["quiet"]
    assert conditions("default") == conditions("full") == list(ROOMS)


@pytest.mark.parametrize("effort", get_args(Effort))
def test_every_effort_has_its_numbers(effort: Effort) -> None:
    assert STOPS[effort] > 0
    assert SEAMS[effort] > 0
