"""Helpers for a conversation with the tiny model, as the session conducts it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import numpy as np

from appliance.settings import ThinkingSettings, load_defaults
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.local import LocalGemma
from tests.think.opened import gemma_of

NOISE = 0.02  # of a logit: the order of float sums differs with the size of a batch
ANSWER = 12
Make = Callable[..., LocalGemma]


def clip(seconds: float, seed: int = 0) -> SpeechClip:
    samples = np.random.default_rng(seed).normal(0, 3000, int(16_000 * seconds))
    return SpeechClip(seed, samples.astype(np.int16))


def thinking(**changes: Any) -> ThinkingSettings:
    plain = {
        "answer_tokens": ANSWER,
        "context_tokens": 4096,
        "persona": "a big stone",
        "instruction": "",
    }
    return msgspec.structs.replace(load_defaults().thinking, **{**plain, **changes})


def text_of(pieces: Iterable[object]) -> str:
    """The text of an answer, without the tool calls that random weights sometimes draw."""
    return "".join(piece for piece in pieces if isinstance(piece, str))


def draw_answer(model: LocalGemma, history: History) -> str:
    """Draw the answer and add it to the history, as the session does."""
    turn = history.last
    assert turn is not None
    turn.answer += text_of(model.answer(history, AnswerMetrics()))
    return turn.answer


def settle(model: LocalGemma, history: History) -> int:
    """Run the idle prefill to its end. Returns the number of pieces."""
    pieces = 1
    while not model.prefill_idle(history):
        pieces += 1
    return pieces


def assert_same_as_fresh(model: LocalGemma, fresh: LocalGemma, history: History) -> None:
    """Compare the next answer and the logits of its first token with those of a fresh model."""
    history.add_turn(99, text="tell me about the moon")
    first, second = AnswerMetrics(), AnswerMetrics()
    model_pieces, fresh_pieces = model.answer(history, first), fresh.answer(history, second)
    next(model_pieces)
    next(fresh_pieces)
    difference = np.abs(gemma_of(model).logits() - gemma_of(fresh).logits()).max()
    assert difference < NOISE
    assert text_of(model_pieces) == text_of(fresh_pieces)
    assert model._reader.held.shape == fresh._reader.held.shape


def growing_clips(utterance: int, *seconds: float) -> list[SpeechClip]:
    """The same utterance after so many seconds each."""
    whole = clip(max(seconds), seed=utterance).samples
    return [SpeechClip(utterance, whole[: int(16_000 * s)]) for s in seconds]
