"""The cost of a question to the turn network, and of live audio at the same time."""

from __future__ import annotations

import os

import numpy as np
import pytest

from appliance.hear.turn.turn_network import TurnNetwork
from appliance.settings import load_defaults
from lab.bench.endpoint_cost import QUESTIONS, beside_live_sound, question_cost


def test_the_cost_of_a_question_is_measured() -> None:
    sheet, median_ms = question_cost([np.zeros(16_000, np.int16)] * 3, TurnNetwork())
    assert [row[0] for row in sheet.rows] == ["wall", "CPU"]
    assert [row[-1] for row in sheet.rows] == [3, 3]
    assert median_ms > 1
    assert QUESTIONS > 3


@pytest.mark.process
def test_hearing_with_questions_is_measured_and_the_thread_is_restored() -> None:
    before = os.sched_getaffinity(0), os.sched_getscheduler(0)
    sheet = beside_live_sound(load_defaults().hearing, TurnNetwork(), questions=4)
    assert [row[0] for row in sheet.rows] == ["nobody is asked", "asked each 300 ms"]
    assert (os.sched_getaffinity(0), os.sched_getscheduler(0)) == before
