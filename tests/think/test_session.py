"""The session turns messages into sentences and history; the model is scripted."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from appliance.errors import RemoteError
from appliance.messages.registry import Message
from appliance.messages.thinking import AnswerBegun, RecallWanted, Sentence, ThoughtEnded
from appliance.think.history import SpeechClip
from tests.think.scripted import ScriptedModel, end_of, session_with


def sentences(sent: list[Message]) -> list[tuple[int, int, str]]:
    return [(m.turn, m.number, m.text) for m in sent if isinstance(m, Sentence)]


def test_sentences_are_sent_in_order_and_the_end_has_the_metrics() -> None:
    session, sent = session_with(ScriptedModel("Hel", "lo. ", "It is ", "far. Ye", "s"))
    session.think(4, [], "hi", 100.0)
    assert sentences(sent) == [(4, 0, "Hello."), (4, 1, "It is far."), (4, 2, "Yes")]
    end = end_of(sent)
    assert (end.turn, end.sentences, end.reason, end.tokens) == (4, 3, "complete", 5)
    assert (end.encode_ms, end.prefill_ms) == (0.5, 0.25)
    assert 0 < end.first_sentence_ms < 100
    assert 0 <= end.waited_ms <= end.first_sentence_ms
    assert end.tokens_per_s > 100
    assert session.history.turns[0].answer == "Hello. It is far. Yes"


def test_a_limited_answer_ends_with_reason_limit() -> None:
    model = ScriptedModel("Hello")
    model.limited = True
    session, sent = session_with(model)
    session.think(1, [], "hi", 100.0)
    assert end_of(sent).reason == "limit"
    assert sentences(sent) == [(1, 0, "Hello")]


def test_a_dropped_answer_stops_and_its_question_joins_the_next() -> None:
    model = ScriptedModel()
    session, sent = session_with(model)
    model.pieces = ("One. Two", lambda: session.drop_up_to(1), " three. Four.")
    session.think(1, [SpeechClip(7, np.zeros(1, np.int16))], "", 100.0)
    assert end_of(sent).reason == "abandoned"
    assert sentences(sent) == [(1, 0, "One.")]
    model.pieces = ("Yes.",)
    sent.clear()
    session.think(2, [SpeechClip(8, np.zeros(1, np.int16))], "", 100.0)
    assert end_of(sent).reason == "complete"
    assert model.asked == [(7,), (7, 8)]


def test_an_answer_dropped_before_its_start_is_not_started() -> None:
    model = ScriptedModel("Hello.")
    session, sent = session_with(model)
    session.drop_up_to(3)
    session.think(3, [], "hi", 100.0)
    assert end_of(sent).reason == "abandoned"
    assert model.asked == []


def test_dropping_an_earlier_answer_does_not_affect_the_current_one() -> None:
    model = ScriptedModel()
    session, sent = session_with(model)
    model.pieces = ("One.", lambda: session.drop_up_to(4), " Two.")
    session.think(5, [], "hi", 100.0)
    assert end_of(sent).reason == "complete"


def test_a_models_error_is_reported_and_its_question_removed() -> None:
    def fail() -> None:
        raise RemoteError("The server is away.", "Start it.")

    session, sent = session_with(ScriptedModel(fail))
    session.think(1, [], "hi", 100.0)
    assert (end_of(sent).reason, end_of(sent).problem) == (
        "failed",
        "The server is away. Start it.",
    )
    assert session.history.turns == []


def test_after_an_error_midway_the_heard_part_is_kept() -> None:
    def fail() -> None:
        raise RemoteError("The server is away.")

    session, sent = session_with(ScriptedModel("One. Two", fail))
    session.think(1, [], "hi", 100.0)
    assert (end_of(sent).reason, end_of(sent).sentences) == ("failed", 1)
    session.record_heard(1, "One.", complete=False)
    assert session.history.turns[0].answer == "One."


@pytest.mark.parametrize("pieces", [(), ("",), ("** ", "\n")])
def test_an_answer_without_words_is_complete_and_leaves_no_turn(pieces: tuple[str, ...]) -> None:
    session, sent = session_with(ScriptedModel(*pieces))
    session.think(1, [], "hi", 100.0)
    assert (end_of(sent).reason, end_of(sent).sentences) == ("complete", 0)
    assert session.history.turns == []


def test_a_drop_never_stops_a_newer_answer() -> None:
    """Another thread drops older answers; the wanted ones are always complete."""
    model = ScriptedModel("One. ", "Two. ", "Three.")
    session, sent = session_with(model)
    done = threading.Event()

    def drop_older() -> None:
        while not done.is_set():
            session.drop_up_to(2 * (len(model.asked) // 2) - 1)

    thread = threading.Thread(target=drop_older)
    thread.start()
    for turn in range(1000, 1200):
        session.think(turn, [], "hi", 100.0)
    done.set()
    thread.join()
    assert {m.reason for m in sent if isinstance(m, ThoughtEnded)} == {"complete"}


def test_after_stop_no_answer_is_started() -> None:
    model = ScriptedModel("Hello.")
    session, sent = session_with(model)
    session.stop()
    session.think(10**9, [], "hi", 100.0)
    assert end_of(sent).reason == "abandoned"
    assert model.interrupted


def clip_of(utterance: int) -> SpeechClip:
    return SpeechClip(utterance, np.zeros(16_000, np.int16))


def test_speech_is_prefilled_ahead_and_held_until_its_question() -> None:
    model = ScriptedModel("Yes.")
    session, _ = session_with(model)
    session.prefill_partial([clip_of(1)], likely_all=False)
    session.prefill_idle()
    assert (model.partial_prefills, model.idle_prefills) == ([(1,)], 0)
    assert session.history.turns == []  # nothing was asked
    session.think(1, [clip_of(1)], "", 0.0)
    session.prefill_idle()
    assert model.idle_prefills == 1


def test_an_answer_is_drawn_ahead_only_if_idle_and_the_last_was_heard() -> None:
    model = ScriptedModel("Yes.")
    session, _ = session_with(model)
    session.draw_ahead([clip_of(1)], lambda: True)
    assert model.drawn_ahead == []
    session.draw_ahead([clip_of(1)], lambda: False)
    assert model.drawn_ahead == [(1,)]
    assert session.history.turns == []
    session.think(1, [clip_of(1)], "", 0.0)
    session.draw_ahead([clip_of(2)], lambda: False)
    assert model.drawn_ahead == [(1,)]  # how much was heard of the answer is not known yet


@pytest.mark.parametrize(
    ("pieces", "first"),
    [
        (("It is", " far.", " Very", " far."), "It is far."),
        (("Yes", "."), "Yes."),  # the whole answer
        (("The moon is so very far away, and", " cold."), "The moon is so very far away,"),
    ],
)
def test_the_first_words_drawn_ahead_are_sent_once(pieces: tuple[str, ...], first: str) -> None:
    session, sent = session_with(ScriptedModel(*pieces))
    session.draw_ahead([clip_of(1)], lambda: False)
    assert sent == [AnswerBegun(first)]


def test_drawing_ahead_stops_when_the_model_is_wanted() -> None:
    drawn: list[str] = []
    words = [lambda word=word: drawn.append(word) for word in "abc"]
    session, sent = session_with(
        ScriptedModel(words[0], "It is", words[1], " far. And", words[2], " more.")
    )
    session.draw_ahead([clip_of(1)], lambda: len(drawn) > 1)
    assert drawn == ["a", "b"]
    assert sent == [AnswerBegun("It is far.")]


def test_nothing_is_prefilled_ahead_before_the_last_answer_was_heard() -> None:
    model = ScriptedModel("Yes.")
    session, _ = session_with(model)
    session.think(1, [clip_of(1)], "", 0.0)
    session.prefill_partial([clip_of(2)], likely_all=False)
    assert model.partial_prefills == []
    session.record_heard(1, "Ye", complete=False)
    session.prefill_partial([clip_of(2)], likely_all=True)
    assert model.partial_prefills == [(2,)]


def test_forgetting_releases_the_partial_prefill() -> None:
    model = ScriptedModel()
    session, _ = session_with(model)
    session.prefill_partial([clip_of(1)], likely_all=False)
    session.forget()
    session.prefill_idle()
    assert model.idle_prefills == 1


def test_preempt_idle_affects_only_idle_work() -> None:
    model = ScriptedModel("Yes.")
    session, _ = session_with(model)
    session.preempt_idle()
    assert model.preempted == 0
    model.during = session.preempt_idle
    session.prefill_idle()
    assert model.preempted == 1
    session.preempt_idle()
    assert (model.preempted, model.interrupted) == (1, False)


@pytest.mark.parametrize(
    ("asked", "ends"),
    [
        ([SpeechClip(1, np.zeros(16_000, np.int16))], False),  # the same sound
        ([SpeechClip(1, np.zeros(17_000, np.int16))], False),  # it begins with the same sound
        ([SpeechClip(1, np.zeros(15_000, np.int16))], True),  # a part of it
        ([SpeechClip(2, np.zeros(16_000, np.int16))], True),
        ([], True),  # typed
        (None, False),  # no question
    ],
)
def test_a_question_interrupts_the_encoding_of_other_sound(
    asked: list[SpeechClip] | None, ends: bool
) -> None:
    model = ScriptedModel("Yes.")
    session, _ = session_with(model)
    found: list[bool] = []

    def ask() -> None:
        session.preempt_idle(asked)
        found.append(model.interrupted)

    model.during = ask
    session.prefill_partial([clip_of(1)], likely_all=True)
    session.encode_ahead(clip_of(1))
    assert found == [ends, ends]
    assert not model.interrupted  # later work is not interrupted
    session.preempt_idle(asked)
    assert not model.interrupted


def test_a_reload_puts_recalled_turns_before_newer_ones() -> None:
    session, sent = session_with(ScriptedModel("Yes."))
    session.load_turns([("", "about the doctor", "At noon."), ("", "about the sea", "It is wet.")])
    session.think(3, [], "and the moon?", 100.0)
    sent.clear()
    session.reload_history()
    assert (session.history.turns, sent) == ([], [RecallWanted()])
    session.think(4, [], "is it far?", 100.0)
    session.load_turns([("", "about the sea", "It is wet.")])
    assert [turn.answer for turn in session.history.turns] == ["It is wet.", "Yes."]
    session.load_turns([("", "what a start would be given", "It is dry.")])
    assert len(session.history.turns) == 2, "a later Recall is for the next start"
