"""The button turns edges with their times into gestures."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from appliance.panel.button import (
    CONFIRM_S,
    DEBOUNCE_S,
    DOUBLE_S,
    LONG_S,
    PAUSE_S,
    STUCK_S,
    Button,
    Gesture,
)

STEP_S = 0.005


def play(button: Button, edges: list[tuple[float, bool]], until: float) -> list[Gesture]:
    """The gestures for these edges, with a tick every 5 ms between them."""
    gestures: list[Gesture] = []
    now = 0.0
    for at, down in edges:
        while now < at:
            gestures += button.tick(now)
            now += STEP_S
        gestures += button.edge(down, at)
    while now < until:
        gestures += button.tick(now)
        now += STEP_S
    return gestures


def fresh(power_on: bool = False) -> Button:
    button = Button(power_on=power_on)
    button.edge(False, 0.0)
    return button


def test_a_press_is_reported_at_its_first_edge() -> None:
    assert fresh().edge(True, 1.0) == ["press"]


def test_a_short_press_is_reported_once_no_second_can_follow() -> None:
    button = fresh()
    assert play(button, [(1.0, True), (1.1, False)], 1.1 + DOUBLE_S - 0.02) == ["press", "release"]
    assert button.tick(1.1 + DOUBLE_S + 0.01) == ["short"]


def test_two_presses_in_time_are_a_double_and_not_a_short() -> None:
    edges = [(1.0, True), (1.1, False), (1.3, True), (1.4, False)]
    assert play(fresh(), edges, 3.0) == ["press", "release", "press", "release", "double"]


def test_two_presses_far_apart_are_two_shorts() -> None:
    edges = [(1.0, True), (1.1, False), (2.0, True), (2.1, False)]
    assert play(fresh(), edges, 3.0) == ["press", "release", "short"] * 2


def test_a_long_press_is_reported_while_held_and_is_not_a_short() -> None:
    button = fresh()
    assert play(button, [(1.0, True)], 1.0 + LONG_S + 0.02) == ["press", "long"]
    assert play(button, [(4.0, False)], 6.0) == ["release"]


def test_bounces_within_the_debounce_are_one_press() -> None:
    edges = [
        (1.0, True),
        (1.002, False),
        (1.004, True),
        (1.2, False),
        (1.203, True),
        (1.206, False),
    ]
    assert play(fresh(), edges, 3.0) == ["press", "release", "short"]


def test_a_tap_shorter_than_the_debounce_is_released() -> None:
    tap = [(1.0, True), (1.0 + DEBOUNCE_S / 2, False)]
    assert play(fresh(), tap, 3.0) == ["press", "release", "short"]


def test_an_endlessly_bouncing_button_is_reported_and_counts_as_released() -> None:
    button = fresh()
    gestures = play(button, [(1.0 + i * 0.004, i % 2 == 0) for i in range(60)], 1.25)
    assert button.fault == "bouncing"
    assert gestures.count("press") == gestures.count("release")


def test_a_stuck_button_is_reported_and_counts_as_released() -> None:
    button = fresh()
    gestures = play(button, [(1.0, True)], STUCK_S + 2.0)
    assert (gestures, button.fault) == (["press", "long", "release"], "stuck")


def test_a_recovered_button_works_again_after_a_second() -> None:
    button = fresh()
    play(button, [(1.0, True), (STUCK_S + 2.0, False)], STUCK_S + 4.0)
    assert button.fault == ""
    assert button.edge(True, STUCK_S + 5.0) == ["press"]


def test_a_hold_at_power_on_starts_set_up_after_a_warning() -> None:
    gestures = play(Button(power_on=True), [(0.0, True), (6.0, False)], 8.0)
    assert gestures == ["setup_warning", "setup"]


ARMED = ["setup_warning", "reset_warning", "reset_armed"]


def held_and_let_go(after_s: float) -> Button:
    """A button held from power-on for `after_s` and then released."""
    button = Button(power_on=True)
    play(button, [(0.0, True), (after_s, False)], after_s + 0.03)
    return button


def test_a_reset_needs_a_press_after_the_release() -> None:
    edges = [(0.0, True), (16.0, False), (18.0, True), (18.1, False)]
    assert play(Button(power_on=True), edges, 40.0) == [*ARMED, "reset", "cancelled"]


def test_an_armed_button_without_a_press_is_cancelled() -> None:
    gestures = play(Button(power_on=True), [(0.0, True), (16.0, False)], 16.0 + CONFIRM_S + 1.0)
    assert gestures == [*ARMED, "cancelled"]


def test_a_press_after_the_confirmation_time_is_an_ordinary_press() -> None:
    button = held_and_let_go(16.0)
    play(button, [], 30.0)
    assert button.edge(True, 30.0) == ["press"]


def test_a_contact_that_opens_briefly_does_not_confirm() -> None:
    edges = [(0.0, True), (16.0, False), (16.0 + PAUSE_S / 2, True), (17.0, False)]
    assert play(Button(power_on=True), edges, 40.0) == [*ARMED, "cancelled"]


def test_a_button_stuck_from_power_on_is_reported_and_triggers_nothing() -> None:
    button = Button(power_on=True)
    assert play(button, [(0.0, True)], STUCK_S + 5.0) == [*ARMED, "cancelled", "cancelled"]
    assert button.fault == "stuck"


def test_a_button_that_bounces_while_armed_does_not_reset() -> None:
    edges = [(0.0, True), (16.0, False), *((16.01 + i * 0.004, i % 2 == 0) for i in range(200))]
    gestures = play(Button(power_on=True), edges, 60.0)
    assert "reset" not in gestures
    assert gestures.count("cancelled") == 1
    assert gestures.count("press") == gestures.count("release")


def test_a_release_during_either_warning_cancels() -> None:
    early = play(Button(power_on=True), [(0.0, True), (3.0, False)], 9.0)
    assert early == ["setup_warning", "cancelled"]
    late = play(Button(power_on=True), [(0.0, True), (13.0, False)], 20.0)
    assert late == ["setup_warning", "reset_warning", "cancelled"]


def test_a_hold_at_a_restart_of_the_process_is_ignored() -> None:
    assert play(Button(power_on=False), [(0.0, True), (20.0, False)], 25.0) == []


@given(st.lists(st.floats(0.0005, 3.0), max_size=80))
def test_a_button_not_held_at_power_on_never_resets(gaps: list[float]) -> None:
    button, now, gestures = fresh(power_on=True), 1.0, list[Gesture]()
    for number, gap in enumerate(gaps):
        gestures += button.edge(number % 2 == 0, now)
        now += gap
    assert not {"reset", "setup", "reset_armed"} & set(gestures)


@given(st.lists(st.floats(0.0005, 3.0), max_size=80), st.booleans())
def test_presses_and_releases_alternate_for_any_sequence_of_edges(
    gaps: list[float], power_on: bool
) -> None:
    button = Button(power_on=power_on)
    now, down, gestures = 0.0, False, button.edge(False, 0.0)
    for gap in gaps:
        now, down = now + gap, not down
        gestures += button.edge(down, now)
    gestures += button.edge(False, now + 0.001)
    for later in (0.03, 0.5, 2.0):
        gestures += button.tick(now + later)
    assert not button._down
    talk = [gesture for gesture in gestures if gesture in ("press", "release")]
    assert talk == ["press", "release"] * (len(talk) // 2)
