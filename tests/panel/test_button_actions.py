"""The messages for gestures and for sequences of presses."""

from __future__ import annotations

import pytest

from appliance.messages.commands import (
    Forget,
    ModeName,
    Mute,
    Repeat,
    StateName,
    StopSpeaking,
    TalkButton,
)
from appliance.messages.registry import Message
from appliance.panel.button import DOUBLE_S, LONG_S, Button, Gesture
from appliance.panel.button_actions import ANSWERING, TAP_S, ButtonActions

NOW_S = 5.0
STEP_MS = 5


def messages(actions: ButtonActions, *presses_ms: tuple[int, int]) -> list[Message]:
    """The messages for presses, each given as its start and end, until no more can follow. The
    box changes to listening at each press."""
    button = Button()
    button.edge(False, 0.0)
    edges = {
        at: down for press in presses_ms for at, down in zip(press, (True, False), strict=True)
    }
    found: list[Message] = []
    for at_ms in range(STEP_MS, max(edges) + 1000, STEP_MS):
        now_s = at_ms / 1000
        down = edges.get(at_ms)
        gestures = button.tick(now_s) if down is None else button.edge(down, now_s)
        for gesture in gestures:
            found += actions.messages_for(gesture, now_s)
            if gesture == "press":
                actions.state = "listening"
    return found


@pytest.mark.parametrize("state", ANSWERING)
def test_a_press_while_the_box_answers_ends_the_answer(state: StateName) -> None:
    assert ButtonActions(state=state).messages_for("press", NOW_S) == (StopSpeaking(),)


def test_a_press_while_the_box_is_at_rest_opens_the_floor() -> None:
    assert ButtonActions(state="idle").messages_for("press", NOW_S) == (TalkButton(True),)


def test_with_push_to_talk_the_button_opens_the_floor_while_held() -> None:
    held = ButtonActions("push_to_talk", state="idle")
    assert messages(held, (1000, 1000 + round(2000 * LONG_S))) == [
        TalkButton(True),
        TalkButton(False),  # a long hold does not mute
    ]


def test_with_toggle_a_long_press_mutes_and_with_hold_it_can_only_unmute() -> None:
    toggle = ButtonActions("push_to_talk", toggle=True)
    assert toggle.messages_for("long", NOW_S) == (Mute(True),)
    muted = ButtonActions("push_to_talk", muted=True)
    assert muted.messages_for("long", NOW_S) == (Mute(False),)


@pytest.mark.parametrize("state", ANSWERING)
@pytest.mark.parametrize("held_ms", [round(1000 * TAP_S), 700, 1200])
def test_a_long_hold_over_an_answer_does_not_stop_the_new_question(
    state: StateName, held_ms: int
) -> None:
    held = ButtonActions("push_to_talk", state=state)
    assert held_ms < 1000 * LONG_S
    assert messages(held, (1000, 1000 + held_ms)) == [TalkButton(True), TalkButton(False)]


def test_a_tap_over_an_answer_with_push_to_talk_stops_it() -> None:
    held = ButtonActions("push_to_talk", state="speaking")
    assert messages(held, (1000, 1100)) == [TalkButton(True), TalkButton(False), StopSpeaking()]


def test_a_tap_at_rest_with_push_to_talk_stops_nothing() -> None:
    held = ButtonActions("push_to_talk", state="idle")
    assert messages(held, (1000, 1100)) == [TalkButton(True), TalkButton(False)]


@pytest.mark.parametrize("held_ms", [100, 1200])
def test_with_toggle_a_press_over_an_answer_opens_the_floor(held_ms: int) -> None:
    toggle = ButtonActions("push_to_talk", toggle=True, state="speaking")
    found = messages(toggle, (1000, 1000 + held_ms))
    assert found == [
        TalkButton(True),
        TalkButton(False),
    ]  # in this mode the conductor ignores the second


def test_two_consecutive_questions_are_not_a_double_press() -> None:
    held = ButtonActions("push_to_talk", state="speaking")
    again_ms = 2200 + round(500 * DOUBLE_S)
    found = messages(held, (1000, 2200), (again_ms, again_ms + 1200))
    assert found == [TalkButton(True), TalkButton(False)] * 2


MODES: tuple[ModeName, ...] = ("push_to_talk", "wake_word")


@pytest.mark.parametrize("mode", MODES)
def test_two_taps_repeat_the_last_answer(mode: ModeName) -> None:
    found = messages(ButtonActions(mode), (1000, 1100), (1200, 1300))
    assert found[-2:] == [StopSpeaking(), Repeat()]


def test_a_long_press_mutes_and_the_next_one_unmutes() -> None:
    assert ButtonActions().messages_for("long", NOW_S) == (Mute(True),)
    assert ButtonActions(muted=True).messages_for("long", NOW_S) == (Mute(False),)


def test_a_double_press_repeats_the_last_answer() -> None:
    assert ButtonActions().messages_for("double", NOW_S) == (StopSpeaking(), Repeat())


@pytest.mark.parametrize(
    ("gesture", "expected"),
    [("reset", (Forget(),)), ("reset_warning", ()), ("setup_warning", ())],
)
def test_a_reset_forgets_at_once_and_warnings_send_nothing(
    gesture: Gesture, expected: tuple[Message, ...]
) -> None:
    assert ButtonActions().messages_for(gesture, NOW_S) == expected
