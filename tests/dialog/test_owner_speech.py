"""The owner's speech: which utterance counts, and whether it is a mere "stop"."""

from __future__ import annotations

import pytest

from appliance.dialog.owner_speech import WAKE_WORD_FRAMES, OwnerSpeech
from appliance.messages.commands import Opening

LISTENING = OwnerSpeech().listen(4)
SECOND = 16_000  # samples


def test_the_accepted_utterance_is_the_newest() -> None:
    assert LISTENING.utterance == 4
    assert LISTENING.listen(5).utterance == 5
    assert LISTENING.end().utterance is None


def test_a_dropped_utterance_is_no_longer_accepted_and_is_recognised_when_it_ends() -> None:
    dropped = LISTENING.drop()
    assert (dropped.utterance, dropped.dropped) == (None, 4)
    assert dropped.listen(5).dropped == 4


def test_an_utterance_stays_dropped_when_nothing_is_accepted_any_more() -> None:
    assert LISTENING.drop().drop().dropped == 4
    assert LISTENING.drop().listen(5).drop().dropped == 5


def test_an_ended_utterance_is_not_dropped() -> None:
    assert LISTENING.end().dropped is None
    assert LISTENING.end().drop().dropped is None


@pytest.mark.parametrize(
    ("utterances", "words"), [((4,), "what time is it"), ((3, 4), "what time is it"), ((5,), ""),
                              ((), "")],
)  # fmt: skip
def test_words_belong_to_their_own_utterance_only(utterances: tuple[int, ...], words: str) -> None:
    assert LISTENING.note_words(4, "what time is it", "other").words_of(utterances) == words


def test_only_the_newest_words_are_known() -> None:
    speech = LISTENING.note_words(4, "what time", "other").note_words(5, "stop", "stop")
    assert (speech.words_of((4,)), speech.words_of((5,))) == ("", "stop")


def test_more_words_of_the_same_utterance_refute_a_stop_and_words_of_another_do_not() -> None:
    speech = LISTENING.note_stop(4)
    assert speech.stop_serial == 4
    assert speech.refute_stop(4).stop_serial == 0
    assert speech.refute_stop(5) == speech


def test_a_stop_is_cleared_without_its_utterance() -> None:
    speech = LISTENING.note_stop(4).clear_stop()
    assert speech == LISTENING


def test_a_long_utterance_is_remembered_whatever_follows() -> None:
    speech = LISTENING.note_long(4).end().listen(5)
    assert (speech.long_utterance, speech.utterance) == (4, 5)


def test_an_utterance_keeps_the_way_in_which_the_floor_was_opened_for_it() -> None:
    speech = OwnerSpeech().begin(4, SECOND, "hand")
    assert speech.listen(4).opening == "hand"
    assert speech.listen(5).opening == "", "another utterance, whose begin was lost"
    assert speech.end().opening == speech.drop().opening == ""


@pytest.mark.parametrize(
    ("opening", "began", "ended", "expected"),
    [
        ("", SECOND, SECOND + WAKE_WORD_FRAMES, "wake_word"),
        ("", SECOND, SECOND + WAKE_WORD_FRAMES + 1, ""),
        ("", 0, WAKE_WORD_FRAMES, ""),
        ("hand", SECOND, 2 * SECOND, "hand"),
    ],
)
def test_a_wake_word_opens_the_floor_for_speech_that_begins_with_it(
    opening: Opening, began: int, ended: int, expected: str
) -> None:
    speech = OwnerSpeech().begin(4, began, opening)
    assert speech.note_wake_word(ended).opening == expected
    assert OwnerSpeech().note_wake_word(ended).opening == ""


def test_only_the_newest_words_can_ask_for_the_last_sentence() -> None:
    speech = LISTENING.note_words(4, "pardon", "repeat")
    assert (speech.asks_to_repeat(4), speech.asks_to_repeat(5)) == (True, False)
    assert not speech.note_words(4, "pardon the noise", "yield").asks_to_repeat(4)
