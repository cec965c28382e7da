"""Pairing a browser: by spoken digits or a press of the button. Time is an argument."""

from __future__ import annotations

import pytest

from appliance.page.pairing import (
    MOST_WAITING,
    MOST_WRONG,
    PRINTED,
    TRIES,
    VALID_S,
    Pairing,
    draw_digits,
    printed_digits,
)

CODE = "482913"


def new_pairing() -> Pairing:
    return Pairing(draw=lambda: CODE)


def test_the_digits_admit_one_browser_only() -> None:
    pairing = new_pairing()
    assert pairing.code(0) == CODE
    assert pairing.check(" 482 913 ", 1)
    assert not pairing.check(CODE, 2)


def test_digits_that_were_not_requested_admit_no_browser() -> None:
    assert not new_pairing().check(CODE, 0)


def test_the_digits_are_valid_for_two_minutes() -> None:
    pairing = new_pairing()
    pairing.code(0)
    assert pairing.is_asked_for(VALID_S - 1)
    assert not pairing.check(CODE, VALID_S)


def test_after_five_wrong_tries_the_right_digits_are_refused() -> None:
    pairing = new_pairing()
    pairing.code(0)
    for _ in range(TRIES):
        assert not pairing.check("111111", 1)
    assert not pairing.check(CODE, 1)
    assert pairing.code(2) == CODE
    assert pairing.check(CODE, 2), "new digits are valid"


def test_too_many_wrong_digits_lock_pairing_for_a_while_and_right_ones_do_not() -> None:
    pairing = new_pairing()
    for _ in range(MOST_WRONG):
        pairing.code(0)
        pairing.check("111111", 0)
    assert pairing.code(1) == ""
    assert pairing.code(300) == CODE
    for _ in range(3 * MOST_WRONG):
        pairing.code(300)
        assert pairing.check(CODE, 300)


def test_spoken_digits_are_rate_limited() -> None:
    pairing = new_pairing()
    assert sum(pairing.may_speak(0.1 * tick) for tick in range(600)) <= 4  # within a minute
    assert pairing.may_speak(3600)


def test_drawn_digits_are_six_and_rarely_repeat() -> None:
    drawn = {draw_digits() for _ in range(50)}
    assert all(len(pairing) == 6 and pairing.isdecimal() for pairing in drawn)
    assert len(drawn) > 45


def test_the_button_admits_the_waiting_browser_once() -> None:
    pairing = new_pairing()
    who = pairing.wait_for_button(0)
    assert pairing.waits(who, 1)
    assert pairing.press(2) == 1
    assert not pairing.waits(who, 3)
    assert pairing.pop_let_in(who, 3)
    assert not pairing.pop_let_in(who, 3)


def test_the_button_admits_no_browser_when_two_wait_or_none() -> None:
    pairing = new_pairing()
    both = [pairing.wait_for_button(0), pairing.wait_for_button(0)]
    assert pairing.press(1) == 2
    assert not any(pairing.pop_let_in(who, 2) for who in both)
    assert pairing.press(3) == 0
    assert not pairing.pop_let_in("", 4)


def test_waiting_for_the_button_ends_after_two_minutes() -> None:
    pairing = new_pairing()
    who = pairing.wait_for_button(0)
    assert pairing.press(VALID_S) == 0
    assert not pairing.pop_let_in(who, VALID_S)


def test_the_number_of_waiting_browsers_is_limited() -> None:
    pairing = new_pairing()
    assert all(pairing.wait_for_button(0) for _ in range(MOST_WAITING))
    assert pairing.wait_for_button(0) == ""


def test_printed_digits_admit_one_browser_at_any_time() -> None:
    pairing = Pairing(draw=lambda: "111111", printed=CODE)
    assert pairing.is_asked_for(1e6)
    assert pairing.is_printed()
    assert pairing.check(CODE, 1e6)
    assert not pairing.is_printed()
    assert not pairing.check(CODE, 1e6)


def test_five_wrong_tries_end_printed_digits_and_spoken_digits_replace_them() -> None:
    pairing = Pairing(draw=lambda: "111111", printed=CODE)
    for _ in range(TRIES):
        pairing.check("222222", 0)
    assert not pairing.check(CODE, 0)
    other = Pairing(draw=lambda: "111111", printed=CODE)
    assert other.code(0) == "111111"
    assert not other.is_printed()
    assert not other.check(CODE, 1)
    assert other.check("111111", 1)


@pytest.mark.parametrize(
    ("environment", "found"),
    [({PRINTED: CODE}, CODE), ({}, ""), ({PRINTED: "12345"}, ""), ({PRINTED: "abcdef"}, ""),
     ({PRINTED: CODE, "STATE_DIRECTORY": "/var/lib/interlude"}, "")],
)  # fmt: skip
def test_only_a_box_started_by_hand_uses_printed_digits(
    environment: dict[str, str], found: str
) -> None:
    assert printed_digits(environment) == found
