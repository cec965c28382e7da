"""Which speech is accepted: switches, modes, the talk button, the wake word."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from appliance.dialog.listening_state import ListeningState
from appliance.dialog.policy import NEVER, DialogPolicy
from appliance.messages.commands import ModeName, StateName
from appliance.messages.hearing import SetListening

POLICY = DialogPolicy()
STATES: tuple[StateName, ...] = get_args(StateName)
MODES: tuple[ModeName, ...] = get_args(ModeName)
PRESSED = ListeningState("push_to_talk").open_for_turn("hand").hold_button(220.0)
WOKEN = ListeningState("wake_word").open_for_turn("wake_word").wake(1_000_000)


def command(
    it: ListeningState, state: StateName = "idle", *, ringing: bool = False
) -> SetListening:
    return it.command(state, ringing=ringing, policy=POLICY)


@pytest.mark.parametrize(
    ("muted", "switched_off", "off"),
    [(False, False, False), (True, False, True), (False, True, True), (True, True, True)],
)
def test_the_microphone_is_off_if_the_owner_or_the_switch_wants_it(
    muted: bool, switched_off: bool, off: bool
) -> None:
    it = ListeningState().set_microphone(muted=muted, switched_off=switched_off)
    assert it.microphone_off == off
    assert command(it).on == (not off)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("ringing", [False, True])
def test_with_the_microphone_off_no_speech_is_accepted(
    mode: ModeName, state: StateName, ringing: bool
) -> None:
    it = ListeningState(mode, muted=True)
    assert command(it, state, ringing=ringing) == SetListening(
        False, "the microphone is off", over_box=False
    )


@pytest.mark.parametrize("state", STATES)
def test_in_mode_open_all_speech_is_accepted(state: StateName) -> None:
    assert command(ListeningState(), state) == SetListening(True, "open")


@pytest.mark.parametrize(
    ("state", "on"),
    [("idle", False), ("listening", True), ("thinking", True), ("speaking", True),
     ("holding", True), ("failed", False)],
)  # fmt: skip
def test_in_mode_wake_word_a_conversation_continues_without_the_wake_word(
    state: StateName, on: bool
) -> None:
    assert command(ListeningState("wake_word"), state).on == on


@pytest.mark.parametrize(
    ("state", "on"),
    [("idle", False), ("listening", True), ("thinking", False), ("speaking", False)],
)
def test_in_mode_push_to_talk_speech_is_accepted_only_while_the_floor_is_open(
    state: StateName, on: bool
) -> None:
    assert command(ListeningState("push_to_talk"), state).on == on


@pytest.mark.parametrize("mode", MODES)
def test_speech_is_accepted_in_every_mode_while_a_timer_rings(mode: ModeName) -> None:
    assert command(ListeningState(mode), ringing=True).on


@pytest.mark.parametrize("mode", ["push_to_talk", "wake_word"])
@pytest.mark.parametrize("by_voice", [False, True])
def test_the_policy_decides_in_which_modes_speech_interrupts_an_answer(
    mode: ModeName, by_voice: bool
) -> None:
    policy = replace(POLICY, by_voice=frozenset({mode} if by_voice else ()))
    set_listening = ListeningState(mode).command("speaking", ringing=False, policy=policy)
    assert set_listening.over_box == by_voice


def test_the_listeners_command_contains_the_button_and_the_end_of_the_wake_word() -> None:
    assert command(PRESSED, "listening").held
    assert not command(PRESSED.release_button(), "listening").held
    assert command(WOKEN, "listening").since == 1_000_000


def test_the_end_of_a_turn_clears_button_and_wake_word() -> None:
    assert PRESSED.end_turn() == ListeningState("push_to_talk")
    assert WOKEN.end_turn() == ListeningState("wake_word")


def test_the_floor_is_open_for_one_question() -> None:
    assert WOKEN.opened_for_turn
    assert not WOKEN.take_question().opened_for_turn


@pytest.mark.parametrize("mode", MODES)
def test_no_mode_opens_the_floor_by_itself(mode: ModeName) -> None:
    follow_up = ListeningState(mode).spare_wake_word(100.0, POLICY)
    assert not ListeningState(mode).opened_for_turn
    assert not follow_up.opened_for_turn, "the wake word is waived, and nobody said it"
    assert not follow_up.open_for_turn("wake_word").take_question().opened_for_turn


def test_a_press_after_the_wake_word_counts_as_a_press() -> None:
    assert WOKEN.open_for_turn("hand").opening == "hand"


def test_while_a_request_waits_for_its_confirmation_the_wake_word_is_not_waived() -> None:
    it = ListeningState("wake_word").await_confirmation()
    assert not command(it, "speaking").on
    assert it.spare_wake_word(100.0, POLICY).open_until_s == NEVER
    after = it.open_for_turn("wake_word").take_question()
    assert after.spare_wake_word(100.0, POLICY).open_until_s == 108.0


@pytest.mark.parametrize(
    ("mode", "follow_s", "spared"),
    [("wake_word", 8.0, True), ("wake_word", 0.0, False), ("open", 8.0, False),
     ("push_to_talk", 8.0, False)],
)  # fmt: skip
def test_after_an_answer_mode_wake_word_accepts_a_follow_up_without_the_wake_word(
    mode: ModeName, follow_s: float, spared: bool
) -> None:
    it = ListeningState(mode).spare_wake_word(100.0, replace(POLICY, follow_s=follow_s))
    assert it.open_until_s == (108.0 if spared else NEVER)
    assert it.consistent
    if spared:
        assert command(it) == SetListening(True, "an answer has just ended")
    assert it.need_wake_word().open_until_s == NEVER


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("before", [PRESSED, ListeningState("wake_word", open_until_s=108.0)])
def test_a_mode_change_carries_no_state_over(mode: ModeName, before: ListeningState) -> None:
    after = before.set_mode(mode)
    assert after.mode == mode
    assert (after.button_down, after.open_until_s) == (False, NEVER)


def test_the_deadline_is_the_earliest_of_press_button_and_open_floor() -> None:
    assert ListeningState().deadline_s == NEVER
    assert PRESSED.deadline_s == 220.0
    assert PRESSED.await_press(100.3).deadline_s == 100.3
    assert PRESSED.await_press(100.3).acknowledge_press().deadline_s == 220.0
    assert ListeningState("wake_word", open_until_s=108.0).deadline_s == 108.0


@pytest.mark.parametrize(
    "it",
    [
        ListeningState("open", button_until_s=220.0),
        ListeningState("open", open_until_s=108.0),
        ListeningState("wake_word", open_until_s=108.0, opening="wake_word"),
        ListeningState("push_to_talk", muted=True, button_until_s=220.0),
        ListeningState(switched_off=True, opening="wake_word"),
    ],
)
def test_the_invariant_check_finds_a_contradictory_state(it: ListeningState) -> None:
    assert not it.consistent
