"""The session: messages to sentences and history, with a model that says what it is told to."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from appliance.errors import RemoteError
from appliance.messages.registry import Message
from appliance.messages.thinking import AnswerBegun, RecallWanted, Sentence, ThoughtEnded
from appliance.think.history import SpeechClip
from tests.think.scripted import Scripted, ended, mind_of


def sentences(sent: list[Message]) -> list[tuple[int, int, str]]:
    return [(m.turn, m.number, m.text) for m in sent if isinstance(m, Sentence)]


def test_sentences_leave_in_order_and_the_end_says_what_it_cost() -> None:
    session, sent = mind_of(Scripted("Hel", "lo. ", "It is ", "far. Ye", "s"))
    session.think(4, [], "hi", 100.0)
    assert sentences(sent) == [(4, 0, "Hello."), (4, 1, "It is far."), (4, 2, "Yes")]
    end = ended(sent)
    assert (end.turn, end.sentences, end.reason, end.tokens) == (4, 3, "complete", 5)
    assert (end.encode_ms, end.prefill_ms) == (0.5, 0.25)
    assert 0 < end.first_sentence_ms < 100
    assert 0 <= end.waited_ms <= end.first_sentence_ms
    assert end.tokens_per_s > 100
    assert session.history.turns[0].answer == "Hello. It is far. Yes"


def test_a_limited_answer_says_so() -> None:
    model = Scripted("Hello")
    model.limited = True
    session, sent = mind_of(model)
    session.think(1, [], "hi", 100.0)
    assert ended(sent).reason == "limit"
    assert sentences(sent) == [(1, 0, "Hello")]


def test_an_answer_that_becomes_outdated_stops_and_keeps_its_question() -> None:
    model = Scripted()
    session, sent = mind_of(model)
    model.pieces = ("One. Two", lambda: session.drop_up_to(1), " three. Four.")
    session.think(1, [SpeechClip(7, np.zeros(1, np.int16))], "", 100.0)
    assert ended(sent).reason == "abandoned"
    assert sentences(sent) == [(1, 0, "One.")]
    model.pieces = ("Yes.",)
    sent.clear()
    session.think(2, [SpeechClip(8, np.zeros(1, np.int16))], "", 100.0)
    assert ended(sent).reason == "complete"
    assert model.asked == [(7,), (7, 8)]


def test_an_answer_outdated_before_it_began_is_not_begun() -> None:
    model = Scripted("Hello.")
    session, sent = mind_of(model)
    session.drop_up_to(3)
    session.think(3, [], "hi", 100.0)
    assert ended(sent).reason == "abandoned"
    assert model.asked == []


def test_outdating_an_earlier_answer_leaves_this_one_alone() -> None:
    model = Scripted()
    session, sent = mind_of(model)
    model.pieces = ("One.", lambda: session.drop_up_to(4), " Two.")
    session.think(5, [], "hi", 100.0)
    assert ended(sent).reason == "complete"


def test_a_model_that_fails_is_reported_in_its_own_sentence_and_not_asked_again() -> None:
    def fail() -> None:
        raise RemoteError("The server is away.", "Start it.")

    session, sent = mind_of(Scripted(fail))
    session.think(1, [], "hi", 100.0)
    assert (ended(sent).reason, ended(sent).problem) == ("failed", "The server is away. Start it.")
    assert session.history.turns == []


def test_a_model_that_fails_midway_keeps_what_it_said() -> None:
    def fail() -> None:
        raise RemoteError("The server is away.")

    session, sent = mind_of(Scripted("One. Two", fail))
    session.think(1, [], "hi", 100.0)
    assert (ended(sent).reason, ended(sent).sentences) == ("failed", 1)
    session.record_heard(1, "One.", complete=False)
    assert session.history.turns[0].answer == "One."


@pytest.mark.parametrize("pieces", [(), ("",), ("** ", "\n")])
def test_an_answer_without_words_is_complete_and_leaves_no_turn(pieces: tuple[str, ...]) -> None:
    session, sent = mind_of(Scripted(*pieces))
    session.think(1, [], "hi", 100.0)
    assert (ended(sent).reason, ended(sent).sentences) == ("complete", 0)
    assert session.history.turns == []


def test_a_wish_to_stop_never_hits_the_answer_after() -> None:
    """Raced from another thread: answers that are still wanted always come out whole."""
    model = Scripted("One. ", "Two. ", "Three.")
    session, sent = mind_of(model)
    done = threading.Event()

    def outdate_all_before() -> None:
        while not done.is_set():
            session.drop_up_to(2 * (len(model.asked) // 2) - 1)

    thread = threading.Thread(target=outdate_all_before)
    thread.start()
    for turn in range(1000, 1200):
        session.think(turn, [], "hi", 100.0)
    done.set()
    thread.join()
    assert {m.reason for m in sent if isinstance(m, ThoughtEnded)} == {"complete"}


def test_after_quitting_nothing_is_begun() -> None:
    model = Scripted("Hello.")
    session, sent = mind_of(model)
    session.stop()
    session.think(10**9, [], "hi", 100.0)
    assert ended(sent).reason == "abandoned"
    assert model.interrupted


def clip_of(utterance: int) -> SpeechClip:
    return SpeechClip(utterance, np.zeros(16_000, np.int16))


def test_what_the_owner_is_saying_is_read_ahead_and_kept_until_it_is_asked() -> None:
    model = Scripted("Yes.")
    session, _ = mind_of(model)
    session.prefill_partial([clip_of(1)], likely_all=False)
    session.prefill_idle()
    assert (model.overheard, model.settled) == ([(1,)], 0)
    assert session.history.turns == []  # nothing was asked
    session.think(1, [clip_of(1)], "", 0.0)
    session.prefill_idle()
    assert model.settled == 1


def test_an_answer_is_begun_unless_something_else_is_wanted_or_the_last_one_is_still_heard() -> (
    None
):
    model = Scripted("Yes.")
    session, _ = mind_of(model)
    session.draw_ahead([clip_of(1)], lambda: True)
    assert model.begun == []
    session.draw_ahead([clip_of(1)], lambda: False)
    assert model.begun == [(1,)]
    assert session.history.turns == []
    session.think(1, [clip_of(1)], "", 0.0)
    session.draw_ahead([clip_of(2)], lambda: False)
    assert model.begun == [(1,)]  # what was heard of the answer is not known yet


@pytest.mark.parametrize(
    ("pieces", "first"),
    [
        (("It is", " far.", " Very", " far."), "It is far."),
        (("Yes", "."), "Yes."),  # all of it
        (("The moon is so very far away, and", " cold."), "The moon is so very far away,"),
    ],
)
def test_the_first_words_of_a_beginning_are_told_once_for_a_voice(
    pieces: tuple[str, ...], first: str
) -> None:
    session, sent = mind_of(Scripted(*pieces))
    session.draw_ahead([clip_of(1)], lambda: False)
    assert sent == [AnswerBegun(first)]


def test_a_beginning_ends_where_something_is_wanted() -> None:
    drawn: list[str] = []
    words = [lambda word=word: drawn.append(word) for word in "abc"]
    session, sent = mind_of(Scripted(words[0], "It is", words[1], " far. And", words[2], " more."))
    session.draw_ahead([clip_of(1)], lambda: len(drawn) > 1)
    assert drawn == ["a", "b"]
    assert sent == [AnswerBegun("It is far.")]


def test_nothing_is_read_ahead_while_it_is_open_what_was_heard_of_the_answer() -> None:
    model = Scripted("Yes.")
    session, _ = mind_of(model)
    session.think(1, [clip_of(1)], "", 0.0)
    session.prefill_partial([clip_of(2)], likely_all=False)
    assert model.overheard == []
    session.record_heard(1, "Ye", complete=False)
    session.prefill_partial([clip_of(2)], likely_all=True)
    assert model.overheard == [(2,)]


def test_forgetting_lets_go_of_what_was_overheard() -> None:
    model = Scripted()
    session, _ = mind_of(model)
    session.prefill_partial([clip_of(1)], likely_all=False)
    session.forget()
    session.prefill_idle()
    assert model.settled == 1


def test_only_what_is_done_while_nobody_waits_is_hurried() -> None:
    model = Scripted("Yes.")
    session, _ = mind_of(model)
    session.preempt_idle()
    assert model.hurried == 0
    model.during = session.preempt_idle
    session.prefill_idle()
    assert model.hurried == 1
    session.preempt_idle()
    assert (model.hurried, model.interrupted) == (1, False)


@pytest.mark.parametrize(
    ("asked", "ends"),
    [
        ([SpeechClip(1, np.zeros(16_000, np.int16))], False),  # the same sound: it is of use
        ([SpeechClip(1, np.zeros(17_000, np.int16))], False),  # it begins with it
        ([SpeechClip(1, np.zeros(15_000, np.int16))], True),  # less of it
        ([SpeechClip(2, np.zeros(16_000, np.int16))], True),
        ([], True),  # typed
        (None, False),  # no question
    ],
)
def test_a_question_ends_the_encoding_of_what_it_does_not_ask(
    asked: list[SpeechClip] | None, ends: bool
) -> None:
    model = Scripted("Yes.")
    session, _ = mind_of(model)
    found: list[bool] = []

    def ask() -> None:
        session.preempt_idle(asked)
        found.append(model.interrupted)

    model.during = ask
    session.prefill_partial([clip_of(1)], likely_all=True)
    session.encode_ahead(clip_of(1))
    assert found == [ends, ends]
    assert not model.interrupted  # and what comes after it is not ended
    session.preempt_idle(asked)
    assert not model.interrupted


def test_after_one_turn_was_forgotten_what_is_left_is_recalled_ahead_of_what_came_since() -> None:
    session, sent = mind_of(Scripted("Yes."))
    session.load_turns([("", "about the doctor", "At noon."), ("", "about the sea", "It is wet.")])
    session.think(3, [], "and the moon?", 100.0)
    sent.clear()
    session.reload_history()
    assert (session.history.turns, sent) == ([], [RecallWanted()])
    session.think(4, [], "is it far?", 100.0)
    session.load_turns([("", "about the sea", "It is wet.")])
    assert [turn.answer for turn in session.history.turns] == ["It is wet.", "Yes."]
    session.load_turns([("", "what a start would be given", "It is dry.")])
    assert len(session.history.turns) == 2, "what comes later is for the next start"
