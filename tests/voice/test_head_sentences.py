"""Sentences by their tokens: their frames, the places of their words, and what is declined."""

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


def test_a_sentence_is_its_tokens_frames_and_no_others(talk: Talk) -> None:
    run(talk.runs, *range(8, 15))
    talk.sentences.say(TWO, 0.0)
    *sound, end = talk.all_of()
    assert end == ({"done": 1}, None)
    assert len(sound) == 2 * FRAMES_A_TOKEN
    assert all(samples is not None and len(samples) == FRAME for _, samples in sound)
    assert [told["words"] for told, _ in sound] == [
        [(0, 3, 0)], [], [], [(4, 8, 0)], [], [],
    ]  # fmt: skip
    talk.sentences.say(HeadOrder(2, 12, 15), 0.0)
    assert len(talk.all_of()) == 3 * FRAMES_A_TOKEN + 1


def test_it_begins_before_its_last_token_is_drawn_and_goes_on_as_they_come(talk: Talk) -> None:
    talk.sentences.say(TWO, 0.0)
    for serial in (10, 11, 12):
        assert talk.all_of() == []
        talk.runs.add(TokenSlot(serial, 10, serial == 10, states_of(serial % 8)))
    assert len(talk.all_of()) == FRAMES_A_TOKEN  # of the first: two more are its lead
    talk.runs.add(TokenSlot(12, 10, first=False, states=None))
    assert talk.all_of()[-1] == ({"done": 1}, None)


def test_a_stopped_sentence_says_no_more_and_the_next_is_whole(talk: Talk) -> None:
    run(talk.runs, *range(10, 15))
    talk.sentences.say(TWO, 0.0)
    assert list(talk.sentences.stop(1)) == [({"done": 1}, None)]
    assert talk.all_of() == []
    talk.sentences.say(HeadOrder(2, 12, 15), 0.0)
    assert len(talk.all_of()) == 3 * FRAMES_A_TOKEN + 1


def test_one_that_was_stopped_can_be_said_after_all(talk: Talk) -> None:
    run(talk.runs, *range(10, 15))
    talk.sentences.say(TWO, 0.0)
    list(talk.sentences.stop(1))
    talk.sentences.say(TWO, 0.0)
    assert len(talk.all_of()) == 2 * FRAMES_A_TOKEN + 1


@pytest.mark.parametrize("how", ["replaced", "stopped", "ended"])
def test_what_was_prepared_of_a_longer_one_is_in_it_from_its_first_frame(
    talk: Talk, how: str
) -> None:
    run(talk.runs, *range(10, 15))
    talk.sentences.say(TWO, 0.0)
    assert len(talk.all_of()) == 2 * FRAMES_A_TOKEN + 1
    talk.sentences.say(HeadOrder(2, 12, 14), 0.0)
    begun = [next(talk.sentences.replies(0.0))[1] for _ in range(2)]
    if how == "ended":
        begun += [samples for _, samples in talk.all_of()[:-1]]
    elif how == "stopped":
        list(talk.sentences.stop(2))
    talk.sentences.say(HeadOrder(3, 12, 15), 0.0)
    whole = [samples for _, samples in talk.all_of()[:-1]]
    assert len(whole) == 3 * FRAMES_A_TOKEN
    for first, again in zip(begun, whole, strict=False):
        assert first is not None
        assert again is not None
        assert np.array_equal(first, again)


def test_states_that_do_not_come_are_waited_for_and_not_for_ever(talk: Talk) -> None:
    talk.sentences.say(TWO, 100.0)
    assert talk.all_of(100.0 + WAIT_S) == []
    ((told, _),) = talk.all_of(100.1 + WAIT_S)
    assert (told["failed"], told["unsayable"], told["said"]) == (1, True, 0)


@pytest.mark.parametrize(
    ("value", "why"),
    [(SILENT, "it makes no sound"), (STUCK, "it repeats a sound"), (BROKEN, "no such sound")],
)
def test_a_sentence_that_is_no_speech_is_declined(talk: Talk, value: float, why: str) -> None:
    run(talk.runs, *range(10, 16), states=states_of(3, value))
    talk.sentences.say(HeadOrder(4, 10, 16, ((0, 5, 0),)), 0.0)
    told, samples = talk.all_of()[-1]
    assert told["failed"] == 4
    assert told["unsayable"] is True
    assert why in str(told["why"])
    assert samples is None


def test_one_that_breaks_in_its_midst_says_as_far_as_which_word_it_came(talk: Talk) -> None:
    for serial in (10, 11, 12, 13):
        states = states_of(serial % 8, BROKEN if serial == 12 else 1.0)
        talk.runs.add(TokenSlot(serial, 10, serial == 10, states))
    talk.runs.add(TokenSlot(13, 10, first=False, states=None))
    words = ((0, 3, 0), (4, 8, 1), (9, 12, 2), (13, 20, 3))
    talk.sentences.say(HeadOrder(1, 10, 14, words), 0.0)
    *sound, (told, _) = talk.all_of()
    assert len(sound) == 2 * FRAMES_A_TOKEN
    assert told["said"] == 4  # the word that was being said is said again, by another voice


def test_states_of_another_time_are_not_waited_for(talk: Talk) -> None:
    run(talk.runs, *range(20, 25))
    talk.sentences.say(TWO, 0.0)
    ((told, _),) = talk.all_of()
    assert told["failed"] == 1
