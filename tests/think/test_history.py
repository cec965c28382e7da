"""The history holds what was heard, not what was planned."""

from __future__ import annotations

import numpy as np

from appliance.think.history import RECALLED, History, SpeechClip, ToolUse
from appliance.tools.tool_call_syntax import ToolCall


def clip(utterance: int) -> SpeechClip:
    return SpeechClip(utterance, np.zeros(160, np.int16))


def told(history: History) -> list[tuple[int, str, str]]:
    return [(turn.number, turn.text, turn.answer) for turn in history.turns]


def asked_and_answered(history: History, number: int, answer: str = "All of it.") -> None:
    turn = history.add_turn(number, text=f"question {number}")
    turn.answer, turn.tokens = answer, [1, 2, 3]


def test_an_answer_heard_to_its_end_stays_as_it_was_drawn() -> None:
    history = History()
    asked_and_answered(history, 1)
    history.record_heard(1, "All of it", complete=True)
    assert told(history) == [(1, "question 1", "All of it.")]
    assert history.turns[0].tokens == [1, 2, 3]


def test_of_an_interrupted_answer_stays_what_was_heard() -> None:
    history = History()
    asked_and_answered(history, 1)
    history.abandon(1)
    history.record_heard(1, "All", complete=False)
    assert told(history) == [(1, "question 1", "All")]
    assert history.turns[0].tokens == []


def test_what_was_heard_counts_before_and_after_the_abandonment() -> None:
    history = History()
    asked_and_answered(history, 1)
    history.record_heard(1, "All", complete=False)
    history.abandon(1)
    assert told(history) == [(1, "question 1", "All")]


def test_a_question_of_whose_answer_nothing_was_heard_joins_the_next() -> None:
    history = History()
    history.add_turn(1, [clip(7)])
    history.abandon(1)
    history.add_turn(2, [clip(8)], "and this")
    history.abandon(2)
    turn = history.add_turn(3, [clip(9)], "and that")
    assert [c.utterance for c in turn.clips] == [7, 8, 9]
    assert turn.text == "and this and that"
    assert len(history.turns) == 1


def test_a_question_named_again_is_not_asked_twice() -> None:
    history = History()
    history.add_turn(1, [clip(7)])
    history.abandon(1)
    turn = history.add_turn(2, [clip(7), clip(8)])
    assert [c.utterance for c in turn.clips] == [7, 8]


def test_a_question_that_is_not_to_be_answered_any_more_is_gone() -> None:
    history = History()
    history.add_turn(1, text="never mind")
    history.abandon(1)
    history.record_heard(1, "", complete=False)
    history.add_turn(2, text="new")
    assert told(history) == [(2, "new", "")]


def test_word_of_a_turn_that_is_gone_changes_nothing() -> None:
    history = History()
    asked_and_answered(history, 1)
    history.record_heard(9, "What?", complete=False)
    history.abandon(9)
    history.fail(9)
    assert told(history) == [(1, "question 1", "All of it.")]


def test_a_turn_heard_late_is_corrected_where_it_stands() -> None:
    history = History()
    asked_and_answered(history, 1)
    asked_and_answered(history, 2)
    history.record_heard(1, "Al", complete=False)
    assert told(history) == [(1, "question 1", "Al"), (2, "question 2", "All of it.")]


def test_a_failed_question_is_not_asked_again() -> None:
    history = History()
    history.add_turn(1, text="lost")
    history.fail(1)
    history.add_turn(2, text="new")
    assert told(history) == [(2, "new", "")]


def test_recalled_turns_come_before_those_of_now_and_only_once() -> None:
    history = History()
    asked_and_answered(history, 5)
    for _ in range(2):
        history.load_turns([
            ("hi", "", "Hello."), ("nothing came", "", ""), ("", "who are you", "Good day."),
        ])  # fmt: skip
    assert told(history) == [
        (RECALLED, "hi", "Hello."),
        (RECALLED, "", "Good day."),
        (5, "question 5", "All of it."),
    ]
    assert [turn.transcript for turn in history.turns] == ["", "who are you", None]


def test_what_was_said_is_written_down_once_its_turn_is_over_oldest_first() -> None:
    history = History()
    asked_and_answered(history, 1)  # typed
    clip = SpeechClip(2, np.zeros(16_000, np.int16))
    for number in (2, 3):
        history.add_turn(number, [clip]).answer = "Yes."
    assert not history.next_untranscribed  # nobody knows yet how much was heard
    history.record_heard(2, "Yes.", complete=True)
    history.record_heard(3, "Yes.", complete=True)
    for number in (2, 3):
        turn = history.next_untranscribed
        assert turn is not None
        assert turn.number == number
        turn.transcript = ""  # failed, and is not tried again
    assert [turn.transcript for turn in history.turns] == [None, "", ""]
    assert not history.next_untranscribed


def test_the_oldest_turn_is_dropped_but_never_the_last() -> None:
    history = History()
    asked_and_answered(history, 1)
    asked_and_answered(history, 2)
    dropped = history.drop_oldest()
    assert dropped is not None
    assert dropped.number == 1
    assert history.drop_oldest() is None
    history.forget()
    assert history.last is None


def test_a_tools_answer_is_part_of_what_is_answered_in_the_order_it_was_heard() -> None:
    history = History()
    turn = history.add_turn(1, text="the time, and how are you")
    turn.uses = [ToolUse(ToolCall("time")), ToolUse(ToolCall("date"))]
    turn.answer = "I am well."  # the model was faster than the clock
    history.record_tool_answer(1, 1, "It is Monday.")
    history.record_tool_answer(1, 0, "It is nine.")
    assert [use.said for use in turn.uses] == ["It is nine.", "It is Monday."]
    assert turn.answered
    history.record_heard(1, "It is nine. It is Monday. I am well.", complete=True)
    assert turn.answer == "It is nine. It is Monday. I am well."


def test_a_tool_that_answers_nobody_changes_nothing() -> None:
    history = History()
    history.record_tool_answer(1, 0, "It is nine.")
    history.add_turn(1, text="hello")
    history.record_tool_answer(1, 0, "It is nine.")
    history.record_tool_answer(2, 0, "It is nine.")
    assert told(history) == [(1, "hello", "")]


def test_the_last_turn_is_forgotten_alone_or_with_the_request_for_that() -> None:
    history = History()
    for number in (1, 2, 3):
        asked_and_answered(history, number)
    history.forget_last()
    assert [turn.number for turn in history.turns] == [1, 2]
    history.add_turn(4, text="forget that")
    history.forget_last()
    assert [turn.number for turn in history.turns] == [1]
    history.add_turn(5, text="forget that")
    history.forget_last()
    history.forget_last()
    assert history.turns == []
