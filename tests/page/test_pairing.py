"""Pairing a browser: by spoken digits or a press of the button. Time is an argument."""

from __future__ import annotations

import pytest

from appliance.messages.commands import (
    Announced,
    ButtonPressed,
    PressName,
    StateChanged,
    StateName,
)
from appliance.messages.playback import PlaybackStarted, PlaybackStopped
from appliance.messages.registry import Message
from appliance.messages.tools import ShownTimer, TimersList
from appliance.page.pairing import (
    FRESH_S,
    PRESS_S,
    PRINTED,
    REACTION_S,
    TRIES,
    VALID_S,
    WARN_AFTER,
    WARN_EVERY_S,
    Attempt,
    Pairing,
    draw_digits,
    printed_digits,
)

CODE = "482913"
HOME, OTHER = "192.168.1.9", "192.168.1.66"
PRESS = ButtonPressed("press")


def new_pairing(printed: str = "") -> Pairing:
    return Pairing(draw=lambda count: CODE[:count], printed=printed)


def enters(pairing: Pairing, token: str, typed: str, now_s: float, passphrase: bool = True) -> bool:
    return pairing.check(token, typed, now_s, lambda: passphrase)


def announced(pairing: Pairing, now_s: float = 0.0) -> tuple[str, Attempt]:
    """A browser that waits for the button, and whose announcement was heard."""
    token, attempt = pairing.begin("", HOME, now_s, button=True)
    pairing.handle(Announced(attempt.number, heard=True), now_s)
    return token, attempt


# ── digits
def test_the_digits_admit_one_browser_only() -> None:
    pairing = new_pairing()
    token, attempt = pairing.begin("", HOME, 0)
    assert (attempt.digits, attempt.button) == (CODE, False)
    assert enters(pairing, token, " 482 913 ", 1)
    assert not enters(pairing, token, CODE, 2)


def test_digits_that_were_not_requested_admit_no_browser() -> None:
    assert not enters(new_pairing(), "", CODE, 0)


def test_a_stranger_can_neither_use_nor_use_up_the_digits_that_a_browser_asked_for() -> None:
    pairing = new_pairing()
    token, _ = pairing.begin("", HOME, 0)
    others, _ = Pairing().begin("", OTHER, 0)
    for typed in (CODE, *("111111" for _ in range(3 * TRIES))):
        for forged in ("", others):
            assert not enters(pairing, forged, typed, 1)
    pairing.begin("", OTHER, 1)  # nor by asking for others
    assert enters(pairing, token, CODE, 2)


def test_the_digits_are_valid_for_two_minutes_and_can_be_repeated() -> None:
    pairing = new_pairing()
    token, attempt = pairing.begin("", HOME, 0)
    first = attempt.number
    again, repeated = pairing.begin(token, HOME, VALID_S - 1)
    assert (again, repeated.digits) == (token, CODE)
    assert repeated.number != first
    assert not enters(pairing, token, CODE, 2 * VALID_S - 1)
    assert pairing.attempt(token, 2 * VALID_S - 1) is None


def test_after_five_wrong_tries_the_right_digits_are_refused() -> None:
    pairing = new_pairing()
    token, _ = pairing.begin("", HOME, 0)
    for _ in range(TRIES):
        assert not enters(pairing, token, "111111", 1)
    assert not enters(pairing, token, CODE, 1)
    again, _ = pairing.begin(token, HOME, 1)
    assert not enters(pairing, again, CODE, 1), "to hear them once more does not give more tries"


# ── the passphrase
def test_a_passphrase_is_not_looked_at_unless_the_box_was_asked_for_digits() -> None:
    looked: list[int] = []

    def looks() -> bool:
        looked.append(1)
        return True

    pairing = new_pairing()
    for _ in range(400):
        assert not pairing.check("", CODE, 1, looks)
    assert looked == []
    token, _ = pairing.begin("", HOME, 1)
    for _ in range(400):
        assert not pairing.check(token, "111111", 1, looks)
    assert len(looked) == TRIES, "and then five times"


def test_a_wrong_passphrase_counts_as_a_try_even_with_the_right_digits() -> None:
    pairing = new_pairing()
    token, _ = pairing.begin("", HOME, 0)
    for _ in range(TRIES):
        assert not enters(pairing, token, CODE, 1, passphrase=False)
    assert not enters(pairing, token, CODE, 1)


def test_a_try_counts_before_the_passphrase_is_looked_at() -> None:
    pairing = new_pairing()
    token, attempt = pairing.begin("", HOME, 0)

    def fails() -> bool:
        raise MemoryError

    with pytest.raises(MemoryError):
        pairing.check(token, CODE, 1, fails)
    assert attempt.tries == TRIES - 1


def test_the_owner_is_told_after_five_wrong_ones_and_once_an_hour() -> None:
    pairing = new_pairing()
    told: list[float] = []
    for number in range(3 * WARN_AFTER):
        token, _ = pairing.begin("", HOME, number)
        enters(pairing, token, "111111", number)
        told += [number] if pairing.pop_warning(number) else []
    assert told == [WARN_AFTER - 1]
    assert pairing.pop_warning(WARN_EVERY_S + WARN_AFTER)
    assert not pairing.pop_warning(3 * WARN_EVERY_S), "no wrong ones since"


def test_an_owner_who_mistypes_is_not_reported() -> None:
    pairing = new_pairing()
    for _ in range(WARN_AFTER):
        token, _ = pairing.begin("", HOME, 0)
        enters(pairing, token, "111111", 0)
        assert enters(pairing, token, CODE, 0)
    assert not pairing.pop_warning(0)


# ── the button
def test_a_press_after_the_announcement_admits_the_browser_once() -> None:
    pairing = new_pairing()
    token, attempt = announced(pairing, 10)
    assert attempt.digits == CODE[:2]
    pairing.handle(PRESS, 12)
    assert attempt.pressed
    assert enters(pairing, token, "", 13)
    assert not enters(pairing, token, "", 13)


@pytest.mark.parametrize("heard", [None, False])
def test_a_press_before_the_announcement_was_heard_to_its_end_admits_no_browser(
    heard: bool | None,
) -> None:
    pairing = new_pairing()
    token, attempt = pairing.begin("", HOME, 0, button=True)
    pairing.handle(PRESS, 1)
    if heard is not None:
        pairing.handle(Announced(attempt.number, heard=heard), 2)
    pairing.handle(PRESS, 5)
    assert not attempt.pressed
    assert not enters(pairing, token, attempt.digits, 6), "the shown digits are no code"


def test_the_end_of_another_announcement_is_not_that_of_this_one() -> None:
    pairing = new_pairing()
    _, attempt = pairing.begin("", HOME, 0, button=True)
    pairing.handle(Announced(attempt.number + 1, heard=True), 1)
    pairing.handle(PRESS, 5)
    assert not attempt.pressed


@pytest.mark.parametrize(
    ("after_s", "counts"),
    [(0.0, False), (REACTION_S - 0.01, False), (REACTION_S, True), (PRESS_S - 0.01, True),
     (PRESS_S, False)],
)  # fmt: skip
def test_a_press_counts_within_thirty_seconds_of_the_announcement(
    after_s: float, counts: bool
) -> None:
    pairing = new_pairing()
    token, attempt = announced(pairing, 10)
    pairing.handle(PRESS, 10 + after_s)
    assert attempt.pressed == counts
    assert enters(pairing, token, "", 10 + after_s) == counts


@pytest.mark.parametrize("kind", ["double_press", "long_press", "release"])
def test_another_gesture_is_not_a_press(kind: PressName) -> None:
    pairing = new_pairing()
    _, attempt = announced(pairing)
    pairing.handle(ButtonPressed(kind), 5)
    assert not attempt.pressed


RINGS = TimersList((ShownTimer(1, False, "", 0.0, 60.0, ringing=True),))


@pytest.mark.parametrize(
    "sounds",
    [(PlaybackStarted(4, 0),), (StateChanged("thinking", 4, 0),), (StateChanged("speaking", 4, 0),),
     (StateChanged("holding", 4, 0),), (PlaybackStarted(4, 0), PlaybackStopped(4, 9, 0)),
     (RINGS,), (RINGS, TimersList())],
)  # fmt: skip
def test_a_press_that_ends_something_else_admits_no_browser(sounds: tuple[Message, ...]) -> None:
    """An answer or a ring that began after the announcement: the press is for that."""
    pairing = new_pairing()
    token, attempt = announced(pairing)
    for message in (*sounds, StateChanged("listening", 5, 0, "the button")):
        pairing.handle(message, 5)
    pairing.handle(PRESS, 6)
    assert (attempt.pressed, attempt.void) == (False, True)
    assert not enters(pairing, token, "", 7)


def test_a_press_while_a_timer_rings_admits_no_browser() -> None:
    """It rang before the announcement, and its next ring is due."""
    pairing = new_pairing()
    pairing.handle(RINGS, 0)
    _, attempt = announced(pairing, 1)
    pairing.handle(TimersList(), 5)  # the press has stopped it
    pairing.handle(PRESS, 5.4)
    assert not attempt.pressed
    _, attempt = announced(pairing, 6)
    pairing.handle(PRESS, 8)
    assert attempt.pressed


@pytest.mark.parametrize("state", ["idle", "listening", "muted", "failed"])
def test_a_press_at_rest_admits_the_browser(state: StateName) -> None:
    """A press opens the floor, so that the box listens by the time that it is reported."""
    pairing = new_pairing()
    _, attempt = announced(pairing)
    pairing.handle(StateChanged(state, 4, 0), 1)
    pairing.handle(PRESS, 2)
    assert attempt.pressed


def test_only_one_browser_waits_for_the_button_so_that_a_press_is_for_that_one() -> None:
    pairing = new_pairing()
    _, attempt = announced(pairing)
    assert pairing.refusal(OTHER, 1, button=True, night=False) == "busy"
    assert pairing.refusal(OTHER, 1, button=False, night=False) is None
    attempt.void = True
    assert pairing.refusal(OTHER, 1, button=True, night=False) is None


def test_with_a_passphrase_a_press_alone_is_not_enough() -> None:
    pairing = new_pairing()
    token, _ = announced(pairing)
    pairing.handle(PRESS, 5)
    assert not enters(pairing, token, "", 6, passphrase=False)
    assert enters(pairing, token, "", 6)


# ── limits
def test_a_stranger_takes_two_announcements_and_the_owner_has_the_third() -> None:
    pairing = new_pairing()
    for number in range(100):
        if pairing.refusal(OTHER, number, button=False, night=False) is None:
            pairing.begin("", OTHER, number)
    assert pairing.refusal(OTHER, 100, button=False, night=False) == "wait"
    assert pairing.refusal(HOME, 100, button=False, night=False) is None
    token, _ = pairing.begin("", HOME, 100)
    assert enters(pairing, token, CODE, 101)
    assert pairing.refusal(OTHER, 102, button=False, night=False) is None, "somebody is at home"


def test_at_night_the_box_says_nothing_except_when_it_was_just_switched_on() -> None:
    pairing = new_pairing()
    for button in (False, True):
        assert pairing.refusal(HOME, FRESH_S - 1, button=button, night=True) is None
        assert pairing.refusal(HOME, FRESH_S, button=button, night=True) == "night"
        assert pairing.refusal(HOME, FRESH_S, button=button, night=False) is None


def test_drawn_digits_are_as_many_as_wanted_and_rarely_repeat() -> None:
    drawn = {draw_digits() for _ in range(50)}
    assert all(len(digits) == 6 and digits.isdecimal() for digits in drawn)
    assert len(drawn) > 45
    assert {len(draw_digits(2)) for _ in range(200)} == {2}


# ── printed digits
def test_printed_digits_admit_one_browser_at_any_time() -> None:
    pairing = new_pairing(CODE)
    attempt = pairing.attempt("", 1e6)
    assert attempt is not None
    assert attempt.printed
    assert enters(pairing, "", CODE, 1e6)
    assert pairing.attempt("", 1e6) is None
    assert not enters(pairing, "", CODE, 1e6)


def test_five_wrong_tries_end_printed_digits_and_spoken_digits_replace_them() -> None:
    pairing = new_pairing(CODE)
    for _ in range(TRIES):
        enters(pairing, "", "222222", 0)
    assert not enters(pairing, "", CODE, 0)
    other = Pairing(draw=lambda count: "1" * count, printed=CODE)
    token, _ = other.begin("", HOME, 0)
    assert other.attempt("", 0) is None
    assert not enters(other, token, CODE, 1)
    assert enters(other, token, "111111", 1)


@pytest.mark.parametrize(
    ("environment", "found"),
    [({PRINTED: CODE}, CODE), ({}, ""), ({PRINTED: "12345"}, ""), ({PRINTED: "abcdef"}, ""),
     ({PRINTED: CODE, "STATE_DIRECTORY": "/var/lib/interlude"}, "")],
)  # fmt: skip
def test_only_a_box_started_by_hand_uses_printed_digits(
    environment: dict[str, str], found: str
) -> None:
    assert printed_digits(environment) == found
