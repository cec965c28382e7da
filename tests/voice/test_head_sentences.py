"""Sentences by their tokens: their frames, the positions of their words, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.runtime.ipc.token_states import TokenSlot
from appliance.voice.head_runs import HeadRuns
from appliance.voice.head_sentences import WAIT_S, HeadOrder, HeadSentences, Reply
from tests.voice import tiny_head
from tests.voice.test_head_runs import run
from tests.voice.tiny_head import BROKEN, FRAME, FRAMES_A_TOKEN, SILENT, STUCK, TinyHead, states_of

TWO = HeadOrder(1, 10, 12, ((0, 3, 0), (4, 8, 1)))


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> TinyHead:
    return TinyHead(tiny_head.write(tmp_path_factory.mktemp("head")))


class Talk:
    def __init__(self, head: TinyHead) -> None:
        self.runs = HeadRuns(head)
        self.sentences = HeadSentences(self.runs, head.dbfs)

    def all_of(self, now_s: float = 0.0) -> list[Reply]:
        while self.runs.step():
            continue
        return list(self.sentences.replies(now_s))


@pytest.fixture
def talk(head: TinyHead) -> Talk:
    return Talk(head)


def test_a_sentence_has_exactly_the_frames_of_its_tokens(talk: Talk) -> None:
    run(talk.runs, *range(8, 15))
    talk.sentences.say(TWO, 0.0)
    *sound, end = talk.all_of()
    assert end == ({"done": 1}, None)
    assert len(sound) == 2 * FRAMES_A_TOKEN
    assert all(samples is not None and len(samples) == FRAME for _, samples in sound)
    assert [reply["words"] for reply, _ in sound] == [
        [(0, 3, 0)], [], [], [(4, 8, 0)], [], [],
    ]  # fmt: skip
    talk.sentences.say(HeadOrder(2, 12, 15), 0.0)
    assert len(talk.all_of()) == 3 * FRAMES_A_TOKEN + 1


def test_a_sentence_starts_before_its_last_token_is_drawn(talk: Talk) -> None:
    talk.sentences.say(TWO, 0.0)
    for serial in (10, 11, 12):
        assert talk.all_of() == []
        talk.runs.add(TokenSlot(serial, 10, serial == 10, states_of(serial % 8)))
    assert len(talk.all_of()) == FRAMES_A_TOKEN  # of the first token, whose lead is two more
    talk.runs.add(TokenSlot(12, 10, first=False, states=None))
    assert talk.all_of()[-1] == ({"done": 1}, None)


def test_a_stopped_sentence_ends_and_the_next_is_complete(talk: Talk) -> None:
    run(talk.runs, *range(10, 15))
    talk.sentences.say(TWO, 0.0)
    assert list(talk.sentences.stop(1)) == [({"done": 1}, None)]
    assert talk.all_of() == []
    talk.sentences.say(HeadOrder(2, 12, 15), 0.0)
    assert len(talk.all_of()) == 3 * FRAMES_A_TOKEN + 1


def test_a_stopped_sentence_can_be_said_again(talk: Talk) -> None:
    run(talk.runs, *range(10, 15))
    talk.sentences.say(TWO, 0.0)
    list(talk.sentences.stop(1))
    talk.sentences.say(TWO, 0.0)
    assert len(talk.all_of()) == 2 * FRAMES_A_TOKEN + 1


@pytest.mark.parametrize("how", ["replaced", "stopped", "ended"])
def test_a_sentence_prepared_in_part_starts_at_its_first_frame(talk: Talk, how: str) -> None:
    run(talk.runs, *range(10, 15))
    talk.sentences.say(TWO, 0.0)
    assert len(talk.all_of()) == 2 * FRAMES_A_TOKEN + 1
    talk.sentences.say(HeadOrder(2, 12, 14), 0.0)
    prepared = [next(talk.sentences.replies(0.0))[1] for _ in range(2)]
    if how == "ended":
        prepared += [samples for _, samples in talk.all_of()[:-1]]
    elif how == "stopped":
        list(talk.sentences.stop(2))
    talk.sentences.say(HeadOrder(3, 12, 15), 0.0)
    complete = [samples for _, samples in talk.all_of()[:-1]]
    assert len(complete) == 3 * FRAMES_A_TOKEN
    for first, again in zip(prepared, complete, strict=False):
        assert first is not None
        assert again is not None
        assert np.array_equal(first, again)


def test_the_wait_for_missing_states_is_limited(talk: Talk) -> None:
    talk.sentences.say(TWO, 100.0)
    assert talk.all_of(100.0 + WAIT_S) == []
    ((reply, _),) = talk.all_of(100.1 + WAIT_S)
    assert (reply["failed"], reply["unsayable"], reply["said"]) == (1, True, 0)


@pytest.mark.parametrize(
    ("value", "why"),
    [(SILENT, "it makes no sound"), (STUCK, "it repeats a sound"), (BROKEN, "no such sound")],
)
def test_a_sentence_that_is_not_speech_is_refused(talk: Talk, value: float, why: str) -> None:
    run(talk.runs, *range(10, 16), states=states_of(3, value))
    talk.sentences.say(HeadOrder(4, 10, 16, ((0, 5, 0),)), 0.0)
    reply, samples = talk.all_of()[-1]
    assert reply["failed"] == 4
    assert reply["unsayable"] is True
    assert why in str(reply["why"])
    assert samples is None


def test_a_sentence_that_breaks_off_reports_how_much_was_said(talk: Talk) -> None:
    for serial in (10, 11, 12, 13):
        states = states_of(serial % 8, BROKEN if serial == 12 else 1.0)
        talk.runs.add(TokenSlot(serial, 10, serial == 10, states))
    talk.runs.add(TokenSlot(13, 10, first=False, states=None))
    words = ((0, 3, 0), (4, 8, 1), (9, 12, 2), (13, 20, 3))
    talk.sentences.say(HeadOrder(1, 10, 14, words), 0.0)
    *sound, (reply, _) = talk.all_of()
    assert len(sound) == 2 * FRAMES_A_TOKEN
    assert reply["said"] == 4  # another voice repeats the word that was interrupted


def test_states_older_than_the_current_run_are_not_waited_for(talk: Talk) -> None:
    run(talk.runs, *range(20, 25))
    talk.sentences.say(TWO, 0.0)
    ((reply, _),) = talk.all_of()
    assert reply["failed"] == 1
