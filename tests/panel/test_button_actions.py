"""What a gesture asks for."""

from __future__ import annotations

import pytest

from appliance.messages.commands import Forget, Mute, Repeat, StateName, StopSpeaking, TalkButton
from appliance.messages.registry import Message
from appliance.panel.button import Gesture
from appliance.panel.button_actions import ANSWERING, ButtonActions


@pytest.mark.parametrize("state", ANSWERING)
def test_a_press_while_the_box_answers_ends_the_answer(state: StateName) -> None:
    assert ButtonActions(state=state).messages_for("press") == (StopSpeaking(),)


def test_a_press_while_the_box_is_at_rest_opens_the_floor() -> None:
    assert ButtonActions(state="idle").messages_for("press") == (TalkButton(True),)


def test_with_push_to_talk_the_button_is_held_while_speaking() -> None:
    held = ButtonActions("push_to_talk", state="idle")
    assert [held.messages_for("press"), held.messages_for("release")] == [
        (TalkButton(True),),
        (TalkButton(False),),
    ]
    assert held.messages_for("long") == ()  # a long question does not mute


def test_with_toggle_a_long_press_mutes_and_with_hold_it_can_only_unmute() -> None:
    assert ButtonActions("push_to_talk", toggle=True).messages_for("long") == (Mute(True),)
    assert ButtonActions("push_to_talk", muted=True).messages_for("long") == (Mute(False),)


def test_a_short_press_over_an_answer_with_push_to_talk_ends_it_and_opens_nothing() -> None:
    held = ButtonActions("push_to_talk", state="speaking")
    assert held.messages_for("press") == (TalkButton(True),)
    assert held.messages_for("short") == (StopSpeaking(),)


def test_a_short_press_at_rest_with_push_to_talk_stops_nothing() -> None:
    held = ButtonActions("push_to_talk", state="idle")
    held.messages_for("press")
    assert held.messages_for("short") == ()


def test_a_long_press_mutes_and_the_next_one_unmutes() -> None:
    assert ButtonActions().messages_for("long") == (Mute(True),)
    assert ButtonActions(muted=True).messages_for("long") == (Mute(False),)


def test_a_double_press_repeats_the_last_answer() -> None:
    assert ButtonActions().messages_for("double") == (StopSpeaking(), Repeat())


@pytest.mark.parametrize(
    ("gesture", "asked"),
    [("reset", (Forget(),)), ("reset_warning", ()), ("setup_warning", ())],
)
def test_a_reset_forgets_at_once_and_its_warning_does_nothing(
    gesture: Gesture, asked: tuple[Message, ...]
) -> None:
    assert ButtonActions().messages_for(gesture) == asked
