"""LocalGemma with the streaming encoder: speech is encoded once, while it is spoken."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.models.local_model import LocalModel
from appliance.think.encoder_files import open_encoder
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.local import LocalGemma
from tests.models.encoder_graph.test_tower import written
from tests.think import tiny
from tests.think.local_talk import NOISE, draw_answer, settle, thinking

SOUND = np.random.default_rng(1).normal(0, 3000, 4 * 16_000).astype(np.int16)

Make = Callable[..., LocalGemma]


@pytest.fixture
def make(tiny_model: LocalModel, tmp_path: Path) -> Iterator[Make]:
    made: list[LocalGemma] = []

    def local(*, streaming: bool) -> LocalGemma:
        encoder = open_encoder(tiny_model.audio, tmp_path / "kept", 1) if streaming else None
        assert (encoder is not None) == streaming
        made.append(LocalGemma(tiny_model, thinking(), 1, encoder=encoder))
        return made[-1]

    yield local
    for model in made:
        model.close()


def clip(samples: int) -> SpeechClip:
    return SpeechClip(5, SOUND[:samples])


def spoken(model: LocalGemma, ends: list[int], history: History) -> None:
    """Prefill the utterance as it grows to local of these lengths."""
    for end in ends:
        question = history.with_question([clip(end)])
        model.prefill_partial(question, likely_all=False)


def test_llama_cpps_encoder_is_not_loaded_with_the_streaming_one(make: Make) -> None:
    assert make(streaming=False)._gemma._audio_encoder
    assert make(streaming=True)._gemma._audio_encoder is None


def test_the_logits_equal_those_with_llama_cpps_encoder(make: Make) -> None:
    answers, weights = [], []
    for streaming in (False, True):
        model, history = make(streaming=streaming), History()
        settle(model, history)
        spoken(model, [16_000, 32_000, 48_000], history)
        history.add_turn(1, [clip(60_100)])
        pieces = model.answer(history, AnswerMetrics())
        next(pieces)
        weights.append(model._gemma.logits())
        pieces.close()  # type: ignore[attr-defined]
        answers.append(model._reader.held)
    assert np.abs(weights[0] - weights[1]).max() < 2 * NOISE
    assert len(answers[0]) == len(answers[1])


def test_each_second_is_encoded_and_read_once_while_it_is_spoken(make: Make) -> None:
    model, history = make(streaming=True), History()
    settle(model, history)
    gemma = model._gemma
    seen = []
    for end in (16_000, 32_000, 48_000, 64_000):
        before, steps = gemma.read, model.progress - gemma.read
        spoken(model, [end - 100], history)
        seen.append((gemma.read - before, model.progress - gemma.read - steps))
    assert [steps for _, steps in seen] == [1] * 4
    assert [read for read, _ in seen[1:]] == [24] * 3  # of 25 tokens and a remainder, in fours


def test_after_the_end_of_speech_only_the_last_piece_is_processed(make: Make) -> None:
    model, history = make(streaming=True), History()
    settle(model, history)
    spoken(model, [16_000, 32_000, 48_000], history)
    steps, effort = model.progress - model._gemma.read, AnswerMetrics()
    history.add_turn(1, [clip(54_800)])
    model._answer_tokens = 1
    list(model.answer(history, effort))
    assert model.progress - model._gemma.read - steps == 1  # the rest, with the incomplete token
    assert effort.read <= 12 + 12  # sound tokens, and the marks after them


def test_after_reading_ahead_the_logits_equal_those_of_a_fresh_model(make: Make) -> None:
    model, fresh = make(streaming=True), make(streaming=True)
    for local, ends in ((model, [10_000, 30_300, 31_000]), (fresh, [])):
        history = History()
        settle(local, history)
        spoken(local, ends, history)
        history.add_turn(1, [clip(40_000)])
        draw_answer(local, history)
        history.add_turn(2, text="hello")
        next(local.answer(history, AnswerMetrics()))
    assert np.abs(model._gemma.logits() - fresh._gemma.logits()).max() < NOISE


def test_sound_shorter_than_a_token_is_not_read(make: Make) -> None:
    model, history = make(streaming=True), History()
    settle(model, history)
    before = model._gemma.read
    spoken(model, [100], history)
    assert model._gemma.read == before


def test_an_encoder_of_another_width_is_refused(
    tiny_model: LocalModel, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def narrow(tensors: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]) -> None:
        name = "mm.a.input_projection.weight"
        tensors[name] = tensors[name][: tiny.WIDTH // 2]

    with caplog.at_level(logging.WARNING):
        encoder = open_encoder(written(tmp_path / "a.gguf", narrow), tmp_path / "kept", 1)
    assert encoder is not None
    with pytest.raises(ModelError, match="of another model"):
        LocalGemma(tiny_model, thinking(), 1, encoder=encoder)
