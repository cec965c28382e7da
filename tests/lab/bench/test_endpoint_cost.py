"""What a question costs, and the live sound beside it."""

from __future__ import annotations

import os

import numpy as np
import pytest

from appliance.hear.turn.turn_network import TurnNetwork
from appliance.settings import load_defaults
from lab.bench.endpoint_cost import QUESTIONS, beside_live_sound, question_cost


def test_a_question_costs_time_and_at_most_so_many_are_asked() -> None:
    sheet, median_ms = question_cost([np.zeros(16_000, np.int16)] * 3, TurnNetwork())
    assert [row[0] for row in sheet.rows] == ["wall", "CPU"]
    assert [row[-1] for row in sheet.rows] == [3, 3]
    assert median_ms > 1
    assert QUESTIONS > 3


@pytest.mark.process
def test_hearing_beside_questions_is_measured_and_leaves_this_thread_as_it_was() -> None:
    before = os.sched_getaffinity(0), os.sched_getscheduler(0)
    sheet = beside_live_sound(load_defaults().hearing, TurnNetwork())
    assert [row[0] for row in sheet.rows] == ["nobody is asked", "asked each 300 ms"]
    assert (os.sched_getaffinity(0), os.sched_getscheduler(0)) == before
