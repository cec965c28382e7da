"""The history holds the answer as far as it was heard, not as it was generated."""

from __future__ import annotations

import numpy as np

from appliance.think.history import RECALLED, History, SpeechClip, ToolUse
from appliance.tools.tool_call_syntax import ToolCall


def clip(utterance: int) -> SpeechClip:
    return SpeechClip(utterance, np.zeros(160, np.int16))


def turns_of(history: History) -> list[tuple[int, str, str]]:
    return [(turn.number, turn.text, turn.answer) for turn in history.turns]


def add_answered(history: History, number: int, answer: str = "All of it.") -> None:
    turn = history.add_turn(number, text=f"question {number}")
    turn.answer, turn.tokens = answer, [1, 2, 3]


def test_an_answer_heard_to_its_end_is_kept_as_drawn() -> None:
    history = History()
    add_answered(history, 1)
    history.record_heard(1, "All of it", complete=True)
    assert turns_of(history) == [(1, "question 1", "All of it.")]
    assert history.turns[0].tokens == [1, 2, 3]


def test_an_interrupted_answer_is_cut_to_what_was_heard() -> None:
    history = History()
    add_answered(history, 1)
    history.abandon(1)
    history.record_heard(1, "All", complete=False)
    assert turns_of(history) == [(1, "question 1", "All")]
    assert history.turns[0].tokens == []


def test_the_heard_text_may_arrive_before_the_abandonment() -> None:
    history = History()
    add_answered(history, 1)
    history.record_heard(1, "All", complete=False)
    history.abandon(1)
    assert turns_of(history) == [(1, "question 1", "All")]


def test_a_question_without_a_heard_answer_joins_the_next() -> None:
    history = History()
    history.add_turn(1, [clip(7)])
    history.abandon(1)
    history.add_turn(2, [clip(8)], "and this")
    history.abandon(2)
    turn = history.add_turn(3, [clip(9)], "and that")
    assert [c.utterance for c in turn.clips] == [7, 8, 9]
    assert turn.text == "and this and that"
    assert len(history.turns) == 1


def test_an_utterance_named_again_is_added_once() -> None:
    history = History()
    history.add_turn(1, [clip(7)])
    history.abandon(1)
    turn = history.add_turn(2, [clip(7), clip(8)])
    assert [c.utterance for c in turn.clips] == [7, 8]


def test_an_abandoned_question_recorded_as_unheard_is_removed() -> None:
    history = History()
    history.add_turn(1, text="never mind")
    history.abandon(1)
    history.record_heard(1, "", complete=False)
    history.add_turn(2, text="new")
    assert turns_of(history) == [(2, "new", "")]


def test_records_of_an_unknown_turn_change_nothing() -> None:
    history = History()
    add_answered(history, 1)
    history.record_heard(9, "What?", complete=False)
    history.abandon(9)
    history.fail(9)
    assert turns_of(history) == [(1, "question 1", "All of it.")]


def test_a_late_record_corrects_an_earlier_turn() -> None:
    history = History()
    add_answered(history, 1)
    add_answered(history, 2)
    history.record_heard(1, "Al", complete=False)
    assert turns_of(history) == [(1, "question 1", "Al"), (2, "question 2", "All of it.")]


def test_a_failed_question_is_not_asked_again() -> None:
    history = History()
    history.add_turn(1, text="lost")
    history.fail(1)
    history.add_turn(2, text="new")
    assert turns_of(history) == [(2, "new", "")]


def test_recalled_turns_come_before_new_ones_and_only_once() -> None:
    history = History()
    add_answered(history, 5)
    for _ in range(2):
        history.load_turns([
            ("hi", "", "Hello."), ("nothing came", "", ""), ("", "who are you", "Good day."),
        ])  # fmt: skip
    assert turns_of(history) == [
        (RECALLED, "hi", "Hello."),
        (RECALLED, "", "Good day."),
        (5, "question 5", "All of it."),
    ]
    assert [turn.transcript for turn in history.turns] == ["", "who are you", None]


def test_finished_spoken_turns_are_transcribed_oldest_first() -> None:
    history = History()
    add_answered(history, 1)  # typed
    clip = SpeechClip(2, np.zeros(16_000, np.int16))
    for number in (2, 3):
        history.add_turn(number, [clip]).answer = "Yes."
    assert not history.next_untranscribed  # how much was heard is not known yet
    history.record_heard(2, "Yes.", complete=True)
    history.record_heard(3, "Yes.", complete=True)
    for number in (2, 3):
        turn = history.next_untranscribed
        assert turn is not None
        assert turn.number == number
        turn.transcript = ""  # failed; not tried again
    assert [turn.transcript for turn in history.turns] == [None, "", ""]
    assert not history.next_untranscribed


def test_the_oldest_turn_is_dropped_but_never_the_last() -> None:
    history = History()
    add_answered(history, 1)
    add_answered(history, 2)
    dropped = history.drop_oldest()
    assert dropped is not None
    assert dropped.number == 1
    assert history.drop_oldest() is None
    history.forget()
    assert history.last is None


def test_tool_answers_are_stored_with_their_calls_in_any_order() -> None:
    history = History()
    turn = history.add_turn(1, text="the time, and how are you")
    turn.uses = [ToolUse(ToolCall("time")), ToolUse(ToolCall("date"))]
    turn.answer = "I am well."  # the model finished before the tools
    history.record_tool_answer(1, 1, "It is Monday.")
    history.record_tool_answer(1, 0, "It is nine.")
    assert [use.said for use in turn.uses] == ["It is nine.", "It is Monday."]
    assert turn.answered
    history.record_heard(1, "It is nine. It is Monday. I am well.", complete=True)
    assert turn.answer == "It is nine. It is Monday. I am well."


def test_a_tool_answer_without_its_call_changes_nothing() -> None:
    history = History()
    history.record_tool_answer(1, 0, "It is nine.")
    history.add_turn(1, text="hello")
    history.record_tool_answer(1, 0, "It is nine.")
    history.record_tool_answer(2, 0, "It is nine.")
    assert turns_of(history) == [(1, "hello", "")]


def test_forget_last_removes_the_last_turn_and_a_pending_request() -> None:
    history = History()
    for number in (1, 2, 3):
        add_answered(history, number)
    history.forget_last()
    assert [turn.number for turn in history.turns] == [1, 2]
    history.add_turn(4, text="forget that")
    history.forget_last()
    assert [turn.number for turn in history.turns] == [1]
    history.add_turn(5, text="forget that")
    history.forget_last()
    history.forget_last()
    assert history.turns == []
