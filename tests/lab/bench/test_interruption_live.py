"""The half that runs at the pace of a clock: rooms, and events read as trials."""

from __future__ import annotations

from typing import get_args

import pytest

from lab.bench.interruption_live import ROOMS, SEAMS, STOPS, as_trial, conditions
from lab.bench.interruption_plan import Effort


def test_an_event_of_the_processes_is_read_as_a_trial() -> None:
    event = {"by": "ours", "word": "real", "name": "stop/anna_0", "click": True,
             "left_out": "", "missed": False, "last_ms": 21.5, "decided_ms": 9.0}  # fmt: skip
    read = as_trial(event)
    assert (read.real, read.clear, read.stop_ms) == (True, False, 21.5)
    assert as_trial(event | {"missed": True, "last_ms": None}).missed


def test_a_quick_run_is_in_one_room_and_every_other_in_all() -> None:
    assert conditions("quick") == ["quiet"]
    assert conditions("default") == conditions("full") == list(ROOMS)


@pytest.mark.parametrize("effort", get_args(Effort))
def test_every_effort_has_its_numbers(effort: Effort) -> None:
    assert STOPS[effort] > 0
    assert SEAMS[effort] > 0
