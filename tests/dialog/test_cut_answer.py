"""A cut answer: how much of it was heard, and whether its question is kept."""

from __future__ import annotations

import pytest

from appliance.dialog.answer import Answer, Question
from appliance.dialog.cut_answer import CutAnswer, UnansweredQuestion
from appliance.messages.speech import Spoken
from appliance.pcm import RATE_HZ

ANSWER = (
    Answer(7, Question("why?"))
    .with_line("The moon is grey.")
    .with_timing(0, 0, 2 * RATE_HZ)
    .at(RATE_HZ, 100.0, sounding=False)
)
CUT = CutAnswer(ANSWER, due_s=100.15)


@pytest.mark.parametrize(
    ("position", "heard"),
    [
        (None, "The moon"),
        (RATE_HZ, "The moon"),
        (2 * RATE_HZ, "The moon is grey."),
        (0, "The moon"),
    ],
)
def test_what_was_heard_is_taken_from_playback_or_the_last_position(
    position: int | None, heard: str
) -> None:
    assert CUT.heard_text(position) == heard


def test_nothing_counts_as_heard_of_an_answer_that_had_hardly_begun() -> None:
    assert CutAnswer(ANSWER, 100.15, unheard=True).heard_text(2 * RATE_HZ) == ""


def test_a_late_playback_position_extends_what_was_heard_and_the_answer_stays_silent() -> None:
    moved = CUT.set_position(2 * RATE_HZ, 101.0)
    assert (moved.heard_text(None), moved.answer.sounding) == ("The moon is grey.", False)
    assert moved.due_s == CUT.due_s


def test_a_late_sentence_length_is_taken_into_account() -> None:
    assert CUT.set_timing(Spoken(1, 0, 0, RATE_HZ, 0.0)).heard_text(None) == "The moon is grey."
    assert CUT.set_timing(Spoken(1, 5, 0, RATE_HZ, 0.0)) == CUT  # the answer has no such line


def test_an_answer_that_the_owner_stops_is_unwanted_whatever_was_heard() -> None:
    assert not CUT.unwanted
    assert CUT.stop() == CutAnswer(ANSWER, 100.15, unwanted=True)


def test_the_unanswered_question_keeps_its_turn() -> None:
    left = UnansweredQuestion(CUT.answer.question, CUT.answer.turn)
    assert (left.question.text, left.turn) == ("why?", 7)


def test_the_invariant_check_finds_a_cut_answer_that_is_still_playing() -> None:
    assert CUT.consistent
    assert not CutAnswer(ANSWER.at(0, 100.0, sounding=True), due_s=100.15).consistent
