"""The ring schedule: its lines, and when they are spoken next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.dialog.policy import NEVER
from appliance.dialog.ring_schedule import RingSchedule

EGGS, TEA = "The eggs are done.", "The tea is done."
RINGING = RingSchedule().set_lines((EGGS,), at_s=100.0)
HEARD = RINGING.begin().finish((EGGS,)).put_off(102.5)


def test_nothing_rings_at_first() -> None:
    assert not RingSchedule().rings
    assert RingSchedule().at_s == NEVER


def test_a_new_line_rings_at_its_time() -> None:
    assert (RINGING.lines, RINGING.at_s) == ((EGGS,), 100.0)
    assert not RINGING.began


def test_an_additional_line_restarts_the_schedule() -> None:
    assert HEARD.set_lines((EGGS, TEA), at_s=104.0) == RingSchedule((EGGS, TEA), at_s=104.0)


@pytest.mark.parametrize("lines", [(EGGS,), (EGGS, TEA), (TEA, EGGS)])
def test_fewer_or_the_same_lines_keep_the_schedule(lines: tuple[str, ...]) -> None:
    both = RingSchedule((EGGS, TEA), began=True, heard=True, at_s=102.5)
    assert both.set_lines(lines, at_s=104.0) == RingSchedule(lines, True, True, 102.5)


def test_without_lines_the_schedule_is_cleared() -> None:
    assert HEARD.set_lines((), at_s=104.0) == RingSchedule()
    assert HEARD.stop() == RingSchedule()


@pytest.mark.parametrize(
    ("lines", "lacks"), [((EGGS,), False), ((), False), ((TEA,), True), ((EGGS, TEA), True)]
)
def test_a_new_line_is_detected(lines: tuple[str, ...], lacks: bool) -> None:
    assert RINGING.lacks(lines) == lacks


@pytest.mark.parametrize(
    ("spoken", "heard"), [((EGGS,), True), ((TEA,), False), ((EGGS, TEA), False), ((), False)]
)
def test_only_an_announcement_of_a_ringing_line_counts_as_heard(
    spoken: tuple[str, ...], heard: bool
) -> None:
    assert RINGING.begin().finish(spoken).heard == heard


def test_without_a_ring_an_empty_announcement_is_not_a_ring() -> None:
    assert RingSchedule().finish(()) == RingSchedule()
    assert RingSchedule().put_off(105.0) == RingSchedule()


def test_the_invariant_check_finds_a_started_schedule_without_lines() -> None:
    assert not RingSchedule(began=True).consistent
    assert not RingSchedule(at_s=100.0).consistent
    assert RINGING.consistent


LINES = st.lists(st.sampled_from((EGGS, TEA)), max_size=2).map(tuple)


@given(st.lists(st.tuples(st.sampled_from(("set", "finish", "put off", "stop")), LINES)))
def test_after_any_operations_the_schedule_is_consistent(
    operations: list[tuple[str, tuple[str, ...]]],
) -> None:
    ringing = RingSchedule()
    for name, lines in operations:
        ringing = {
            "set": ringing.set_lines(lines, 100.0),
            "finish": ringing.finish(lines),
            "put off": ringing.put_off(105.0),
            "stop": ringing.stop(),
        }[name]
        assert ringing.consistent
