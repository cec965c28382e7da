"""The hold: open from an onset to its verdict, with a debounce against a stammering answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.dialog.hold import OutputHold
from appliance.dialog.policy import NEVER, DialogPolicy

POLICY = DialogPolicy()
RAPID_S, DEBOUNCE_S = POLICY.rapid_interrupt_s, POLICY.resume_debounce_s
LONGEST_S = POLICY.max_resume_wait_s
HELD = OutputHold(3, 3).start(4, 16_000, until_s=11.0)


def test_an_onset_opens_the_hold_until_its_deadline() -> None:
    assert (HELD.open, HELD.serial, HELD.released) == (True, 4, 3)
    assert (HELD.until_s, HELD.onset_index) == (11.0, 16_000)


def test_a_new_hold_is_closed() -> None:
    assert not OutputHold().open
    assert OutputHold().consistent


def test_a_released_hold_is_closed_and_has_no_deadline() -> None:
    released = HELD.mark_rapid(5.0, POLICY).debounce("noise", 11.5).release()
    assert (released.open, released.released) == (False, 4)
    assert (released.resume_reason, released.rapid_since_s) == ("", NEVER)


def test_a_new_onset_ends_the_debounce_of_the_one_before() -> None:
    waiting = HELD.debounce("noise", 11.5)
    assert waiting.start(5, 0, 12.0).resume_reason == ""
    assert waiting.extend(12.0).resume_reason == "noise"


def test_an_answer_that_waits_to_resume_gives_way_no_longer() -> None:
    assert not HELD.give_way(12.0).debounce("repeat", 11.5).yielding


def test_a_hold_whose_message_was_lost_has_an_unknown_onset() -> None:
    adopted = HELD.adopt(9)
    assert (adopted.serial, adopted.onset_index, adopted.open) == (9, 0, True)
    assert adopted.release().released == 9


@pytest.mark.parametrize(
    ("after_s", "rapid"), [(0.0, True), (RAPID_S - 0.01, True), (RAPID_S, False), (9.0, False)]
)
def test_an_onset_soon_after_the_answer_resumed_is_rapid(after_s: float, rapid: bool) -> None:
    hold = HELD.resume(20.0).mark_rapid(20.0 + after_s, POLICY)
    assert hold.rapid_since_s == (20.0 + after_s if rapid else NEVER)


def test_the_first_onset_is_not_rapid() -> None:
    assert HELD.mark_rapid(0.0, POLICY).rapid_since_s == NEVER


@pytest.mark.parametrize(
    ("after_s", "needed"),
    [(0.3, True), (LONGEST_S - DEBOUNCE_S - 0.01, True), (LONGEST_S - DEBOUNCE_S + 0.01, False)],
)
def test_a_rapid_onset_is_debounced_until_the_maximum_wait_is_reached(
    after_s: float, needed: bool
) -> None:
    hold = HELD.resume(20.0).mark_rapid(20.0, POLICY)
    assert hold.needs_debounce(20.0 + after_s, POLICY) == needed


def test_a_single_onset_is_not_debounced() -> None:
    assert not HELD.needs_debounce(10.0, POLICY)


OPERATIONS = st.sampled_from(
    ("onset", "onset while it sounds", "extend", "adopt", "debounce", "release", "resume")
)


@given(st.lists(st.tuples(OPERATIONS, st.floats(0.0, 5.0))))
def test_after_any_operations_a_closed_hold_has_released_its_onset(
    operations: list[tuple[str, float]],
) -> None:
    hold, now_s = OutputHold(), 100.0
    for name, after_s in operations:
        now_s += after_s
        until_s, serial = now_s + 1.0, hold.serial + 1
        opened = hold.start(serial, 0, until_s)
        done: dict[str, Any] = {
            "onset": opened,
            "onset while it sounds": opened.mark_rapid(now_s, POLICY),
            "extend": hold.extend(until_s),
            "adopt": hold.adopt(serial) if hold.open else hold,
            "debounce": hold.debounce("noise", until_s) if hold.open else hold,
            "release": hold.release(),
            "resume": hold.resume(now_s),
        }
        hold = done[name]
        assert hold.consistent
        assert hold.needs_debounce(now_s, POLICY) <= hold.open


@pytest.mark.parametrize(
    "hold",
    [
        OutputHold(4, 3),
        OutputHold(4, 4, resume_reason="noise"),
        OutputHold(4, 4, rapid_since_s=20.0),
    ],
)
def test_the_invariant_check_finds_a_closed_hold_with_a_deadline(hold: OutputHold) -> None:
    assert not hold.consistent
