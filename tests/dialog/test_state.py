"""The dialogue's state: when it is at rest, when a ring is due, and its next deadline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from appliance.dialog.answer import Answer
from appliance.dialog.hold import OutputHold
from appliance.dialog.listening_state import ListeningState
from appliance.dialog.policy import NEVER
from appliance.dialog.ring_schedule import RingSchedule
from appliance.dialog.state import DialogState
from appliance.messages.commands import StateName
from appliance.pcm import RATE_HZ

RINGS = RingSchedule(("Eggs.",), at_s=50.0)


@pytest.mark.parametrize(
    ("state", "rests"),
    [("idle", True), ("muted", True), ("failed", True), ("listening", False), ("thinking", False),
     ("speaking", False), ("holding", False)],
)  # fmt: skip
def test_the_dialogue_is_at_rest_when_nothing_is_pending(state: StateName, rests: bool) -> None:
    assert DialogState(state=state).at_rest == rests


def test_an_answer_or_an_open_hold_is_not_rest() -> None:
    assert not DialogState(answer=Answer(1)).at_rest
    assert not DialogState(hold=OutputHold().start(1, 0, 9.0)).at_rest


def test_a_new_dialogue_has_no_deadline() -> None:
    assert DialogState().deadline_s == NEVER


@pytest.mark.parametrize(
    "dialog",
    [
        DialogState(until_s=7.0),
        DialogState(hold=OutputHold().start(1, 0, 7.0)),
        DialogState(
            listening=ListeningState("push_to_talk").open_for_turn("hand").hold_button(7.0)
        ),
        DialogState(ringing=replace(RINGS, at_s=7.0)),
    ],
    ids=["state", "hold", "button", "ring"],
)
def test_the_earliest_deadline_counts(dialog: DialogState) -> None:
    assert dialog.deadline_s == 7.0
    assert replace(dialog, until_s=3.0).deadline_s == 3.0


@pytest.mark.parametrize(
    ("dialog", "due_s"),
    [
        (DialogState(), 50.0),
        (DialogState(state="thinking"), NEVER),  # the owner awaits an answer
        (DialogState(state="speaking", answer=Answer(1)), 50.0),  # the ring cuts a long answer
        (DialogState(state="speaking", answer=Answer(1, ours=True)), NEVER),  # not its own words
    ],
    ids=["idle", "thinking", "answering", "announcing"],
)
def test_a_ring_waits_for_the_owner_but_not_for_a_long_answer(
    dialog: DialogState, due_s: float
) -> None:
    assert replace(dialog, ringing=RINGS).ring_due_s == due_s


def test_a_repeated_ring_cuts_no_answer() -> None:
    speaking = DialogState(state="speaking", answer=Answer(1), ringing=RINGS.begin())
    assert speaking.ring_due_s == NEVER


QUESTION = Answer(1).with_line("Go on?").at(RATE_HZ, 9.0, sounding=False)


@pytest.mark.parametrize(
    ("dialog", "asked"),
    [
        (DialogState(state="holding", answer=QUESTION), 4),
        (DialogState(state="holding", answer=Answer(1).with_line("Go on.")), 0),
        (DialogState(state="speaking", answer=QUESTION), 0),
        (DialogState(state="holding"), 0),
    ],
)
def test_the_listener_is_told_which_onset_came_over_an_open_question(
    dialog: DialogState, asked: int
) -> None:
    held = replace(dialog, hold=OutputHold().start(4, 0, 12.0))
    assert held.listening_command(9.0).asked == asked


def test_a_ring_has_the_listener_accept_speech_in_every_mode() -> None:
    silent = DialogState(listening=ListeningState("push_to_talk"))
    assert not silent.listening_command(9.0).on
    assert replace(silent, ringing=RINGS).listening_command(9.0).on
