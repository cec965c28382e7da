"""The states of a real model's answer: one per spoken token and no others."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest

from appliance.models.store import STANDS_IN, ModelStore
from appliance.runtime.ipc.token_states import States
from appliance.settings import load_defaults
from appliance.think.drawn_states import DrawnText
from appliance.think.history import History
from appliance.think.interface import AnswerMetrics
from appliance.think.local import LocalGemma
from appliance.think.spoken_states import states_of
from tests.think.local_talk import thinking
from tests.think.opened import gemma_of, open_local
from tests.think.reading import Load


class RecordingWriter:
    """A StateWriter that records all states."""

    def __init__(self) -> None:
        self.tokens: dict[int, States] = {}
        self.ended = 0

    def store(self, serial: int, run: int, states: States, *, first: bool) -> None:
        self.tokens[serial] = states

    def end(self, serial: int, run: int) -> None:
        self.ended += 1


def pocket(writer: RecordingWriter | None) -> LocalGemma:
    files = ModelStore.of(load_defaults()).language_model(STANDS_IN)
    files = replace(files, sampling=replace(files.sampling, temperature=0.0))
    return open_local(files, thinking(answer_tokens=60), 1, states=writer)


def answer(model: LocalGemma, history: History, text: str) -> list[str]:
    history.add_turn(len(history.turns), text=text)
    return [p for p in model.answer(history, AnswerMetrics()) if isinstance(p, str) and p]


def test_each_spoken_token_has_its_states() -> None:
    writer = RecordingWriter()
    model = pocket(writer)
    pieces = answer(model, History(), "tell me about the sea")
    serials = [piece.serial for piece in pieces if isinstance(piece, DrawnText)]
    assert len(serials) == len(pieces) > 10
    assert serials == list(writer.tokens)
    assert writer.ended == 1
    gemma = gemma_of(model)
    made = [writer.tokens[serial] for serial in serials]
    assert all(states.shape == (7, gemma.width) for states in made)
    assert all(np.isfinite(states).all() for states in made)
    model.close()


def test_without_a_writer_the_answer_is_the_same_without_serials() -> None:
    writer = RecordingWriter()
    plain, tapped = pocket(None), pocket(writer)
    texts = [answer(model, History(), "tell me about the sea") for model in (plain, tapped)]
    assert texts[0] == texts[1]
    assert not any(isinstance(piece, DrawnText) for piece in texts[0])
    for model in (plain, tapped):
        model.close()


def test_tokens_drawn_ahead_keep_their_states_in_the_answer() -> None:
    writer = RecordingWriter()
    model = pocket(writer)
    history = History()
    while not model.prefill_idle(history):
        pass
    question = History()
    question.add_turn(0, text="tell me about the sea")
    ahead = [p for p in model.draw_ahead(question) if isinstance(p, DrawnText)]
    assert [piece.serial for piece in ahead][: len(writer.tokens)] == list(writer.tokens)
    stored = dict(writer.tokens)
    pieces = [p for p in model.answer(question, AnswerMetrics()) if isinstance(p, DrawnText)]
    assert pieces[: len(ahead)] == ahead
    assert [piece.serial for piece in pieces] == list(writer.tokens)
    assert all(writer.tokens[serial] is states for serial, states in stored.items())
    model.close()


def test_a_model_with_too_few_layers_has_no_states_and_a_warning(
    gemma: Load, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert states_of(gemma(), RecordingWriter()) is None
    assert "5 layers" in caplog.text
    assert "text voice" in caplog.text
