"""The worst present problem of the box, as one word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.mqtt.problem_state import NONE, PROBLEMS, worst
from appliance.runtime.process_table import PROCESSES


@pytest.mark.parametrize(
    ("broken", "low_voltage", "word"),
    [
        ((), False, "none_found"),
        ((), True, "power"),
        (("thinker",), True, "model"),
        (("speaker", "capture"), False, "microphone"),
        (("the microphone", "the loudspeaker"), False, "microphone"),
        (("panel",), False, "part"),
    ],
)
def test_the_worst_problem_is_reported(
    broken: tuple[str, ...], low_voltage: bool, word: str
) -> None:
    assert worst(broken, low_voltage=low_voltage) == word
    assert word in PROBLEMS


@pytest.mark.parametrize(
    ("faults", "word"),
    [
        ({"low_voltage": False, "button": True}, "button"),
        ({"low_voltage": False, "button": True, "storage": True}, "storage"),
        ({"low_voltage": True, "button": True, "storage": True}, "power"),
    ],
)
def test_the_worst_of_several_machine_faults_is_reported(
    faults: dict[str, bool], word: str
) -> None:
    assert worst((), **faults) == word


@given(st.lists(st.sampled_from([row.name for row in PROCESSES]), min_size=1), st.booleans())
def test_another_problem_never_improves_the_reported_one(
    broken: list[str], low_voltage: bool
) -> None:
    before, now = broken[:-1], broken
    rank = [*PROBLEMS[1:], NONE].index
    better = rank(worst(before, low_voltage=low_voltage))
    assert rank(worst(now, low_voltage=low_voltage)) <= better
    assert worst(now, low_voltage=low_voltage) != NONE
