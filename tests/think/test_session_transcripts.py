"""Speech is transcribed while the model is idle, and message transcript is sent once."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.errors import RemoteError
from appliance.messages.thinking import Transcribed
from appliance.think.history import SpeechClip
from appliance.think.session import ModelSession
from tests.think.scripted import ScriptedModel, end_of, session_with


def finish_turn(session: ModelSession, turn: int) -> None:
    """A spoken question whose answer was heard."""
    session.think(turn, [SpeechClip(turn, np.zeros(1600, np.int16))], "", 100.0)
    session.record_heard(turn, "Yes.", complete=True)


def test_a_transcript_is_sent_once_and_stored_in_the_history() -> None:
    session, sent = session_with(ScriptedModel("Yes."))
    finish_turn(session, 3)
    for _ in range(2):
        session.transcribe_idle(lambda: False)
    assert [message for message in sent if isinstance(message, Transcribed)] == [
        Transcribed(3, "what was said")
    ]
    assert session.history.turns[0].transcript == "what was said"


@pytest.mark.parametrize("words", ["", RemoteError("away")])
def test_a_failed_transcription_is_not_sent_and_not_retried(
    words: str | Exception,
) -> None:
    model = ScriptedModel("Yes.")
    model.words = words
    session, sent = session_with(model)
    finish_turn(session, 3)
    for _ in range(2):
        session.transcribe_idle(lambda: False)
    assert model.transcribed == [(3,)]
    assert not any(isinstance(message, Transcribed) for message in sent)


def test_nothing_is_transcribed_while_the_model_is_wanted() -> None:
    model = ScriptedModel("Yes.")
    session, _ = session_with(model)
    finish_turn(session, 3)
    session.transcribe_idle(lambda: True)
    assert model.transcribed == []
    session.transcribe_idle(lambda: False)
    assert model.transcribed == [(3,)]


def test_typed_turns_and_turns_still_being_heard_are_not_transcribed() -> None:
    model = ScriptedModel("Yes.")
    session, _ = session_with(model)
    session.think(1, [], "typed", 100.0)
    session.record_heard(1, "Yes.", complete=True)
    session.think(2, [SpeechClip(2, np.zeros(1600, np.int16))], "", 100.0)
    session.transcribe_idle(lambda: False)
    assert model.transcribed == []


def test_preempt_idle_does_not_interrupt_an_answer() -> None:
    model = ScriptedModel()
    session, sent = session_with(model)
    model.pieces = ("Yes.", session.preempt_idle, "No.")
    session.think(1, [], "hi", 100.0)
    assert end_of(sent).reason == "complete"
    session.preempt_idle()
    assert not model.interrupted
