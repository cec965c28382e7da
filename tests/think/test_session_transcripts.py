"""What was said is written down while nobody waits, and told once."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.errors import RemoteError
from appliance.messages.thinking import Transcribed
from appliance.think.history import SpeechClip
from appliance.think.session import ModelSession
from tests.think.scripted import Scripted, ended, mind_of


def over(session: ModelSession, turn: int) -> None:
    """A spoken question whose answer was heard."""
    session.think(turn, [SpeechClip(turn, np.zeros(1600, np.int16))], "", 100.0)
    session.record_heard(turn, "Yes.", complete=True)


def test_what_was_said_is_told_once_and_stands_in_the_history() -> None:
    session, sent = mind_of(Scripted("Yes."))
    over(session, 3)
    for _ in range(2):
        session.transcribe_idle(lambda: False)
    assert [each for each in sent if isinstance(each, Transcribed)] == [
        Transcribed(3, "what was said")
    ]
    assert session.history.turns[0].transcript == "what was said"


@pytest.mark.parametrize("words", ["", RemoteError("away")])
def test_what_could_not_be_written_down_is_told_to_nobody_and_not_tried_again(
    words: str | Exception,
) -> None:
    model = Scripted("Yes.")
    model.words = words
    session, sent = mind_of(model)
    over(session, 3)
    for _ in range(2):
        session.transcribe_idle(lambda: False)
    assert model.transcribed == [(3,)]
    assert not any(isinstance(each, Transcribed) for each in sent)


def test_as_soon_as_the_model_is_wanted_nothing_is_written_down() -> None:
    model = Scripted("Yes.")
    session, _ = mind_of(model)
    over(session, 3)
    session.transcribe_idle(lambda: True)
    assert model.transcribed == []
    session.transcribe_idle(lambda: False)
    assert model.transcribed == [(3,)]


def test_an_answer_that_sounds_still_and_typed_words_are_not_written_down() -> None:
    model = Scripted("Yes.")
    session, _ = mind_of(model)
    session.think(1, [], "typed", 100.0)
    session.record_heard(1, "Yes.", complete=True)
    session.think(2, [SpeechClip(2, np.zeros(1600, np.int16))], "", 100.0)
    session.transcribe_idle(lambda: False)
    assert model.transcribed == []


def test_making_way_interrupts_the_writing_alone() -> None:
    model = Scripted()
    session, sent = mind_of(model)
    model.pieces = ("Yes.", session.preempt_idle, "No.")
    session.think(1, [], "hi", 100.0)
    assert ended(sent).reason == "complete"
    session.preempt_idle()
    assert not model.interrupted
