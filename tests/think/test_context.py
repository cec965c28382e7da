"""The context: evaluation in pieces, rollback, interruption and overflow."""

from __future__ import annotations

import threading
from itertools import pairwise

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.context import BATCH
from tests.think import tiny
from tests.think.reading import NOISE, Load, draw, read_until_interrupted, some_tokens, sound


def test_evaluating_in_pieces_gives_the_same_logits_as_at_once(gemma: Load) -> None:
    tokens, rows = some_tokens(90), gemma().encode(sound(2))
    at_once, in_pieces = gemma(), gemma()
    for model, cuts in ((at_once, [0, 90]), (in_pieces, [0, 3, 40, 90])):
        model.evaluate(tokens[:30])
        model.evaluate(rows)
        for first, last in pairwise(cuts):
            model.evaluate(tokens[first:last], last=last == 90)
    assert np.abs(at_once.logits() - in_pieces.logits()).max() < NOISE
    assert draw(at_once, 8) == draw(in_pieces, 8)


@pytest.mark.parametrize("beyond", [5, 3 * tiny.WINDOW])
def test_rollback_is_exact_even_beyond_the_window(gemma: Load, beyond: int) -> None:
    model, fresh = gemma(), gemma()
    model.evaluate(some_tokens(60), last=True)
    before = model.position
    model.evaluate(list(reversed(some_tokens(beyond))))
    assert model.roll_back(before) == before
    for context in (model, fresh):
        if context is fresh:
            context.evaluate(some_tokens(60))
        context.evaluate([7, 8, 9], last=True)
    assert np.abs(model.logits() - fresh.logits()).max() < NOISE


def test_an_interruption_ends_a_long_evaluation_and_leaves_a_usable_model(gemma: Load) -> None:
    model, fresh = gemma(4096), gemma(4096)
    model.evaluate(some_tokens(20))
    timer = threading.Timer(0.05, model.interrupt)
    timer.start()
    with pytest.raises(AnswerAbandoned):
        read_until_interrupted(model, 20)
    held = model.position
    assert held == 520 or (held - 20) % BATCH == 0  # no partial batch
    with pytest.raises(AnswerAbandoned):
        model.evaluate([5])  # until `resume`
    model.resume()
    model.roll_back(20)
    fresh.evaluate(some_tokens(20))
    for context in (model, fresh):
        context.evaluate([9, 8, 7], last=True)
    assert np.abs(model.logits() - fresh.logits()).max() < NOISE


def test_more_tokens_than_fit_raise_a_model_error(gemma: Load) -> None:
    model = gemma(512)
    model.evaluate(some_tokens(model.context_tokens))
    with pytest.raises(ModelError, match="do not fit"):
        model.evaluate([5])
