"""The context: read in pieces, gone back in, interrupted, full."""

from __future__ import annotations

import threading
from itertools import pairwise

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.context import BATCH
from tests.think import tiny
from tests.think.reading import NOISE, Load, drawn, read_on, some_tokens, sound


def test_reading_in_pieces_gives_the_same_weights_as_reading_at_once(gemma: Load) -> None:
    tokens, rows = some_tokens(90), gemma().encode(sound(2))
    at_once, in_pieces = gemma(), gemma()
    for model, cuts in ((at_once, [0, 90]), (in_pieces, [0, 3, 40, 90])):
        model.evaluate(tokens[:30])
        model.evaluate(rows)
        for first, last in pairwise(cuts):
            model.evaluate(tokens[first:last], last=last == 90)
    assert np.abs(at_once.logits() - in_pieces.logits()).max() < NOISE
    assert drawn(at_once, 8) == drawn(in_pieces, 8)


@pytest.mark.parametrize("beyond", [5, 3 * tiny.WINDOW])
def test_going_back_is_exact_even_beyond_the_window(gemma: Load, beyond: int) -> None:
    model, fresh = gemma(), gemma()
    model.evaluate(some_tokens(60), last=True)
    before = model.position
    model.evaluate(list(reversed(some_tokens(beyond))))
    assert model.roll_back(before) == before
    for each in (model, fresh):
        if each is fresh:
            each.evaluate(some_tokens(60))
        each.evaluate([7, 8, 9], last=True)
    assert np.abs(model.logits() - fresh.logits()).max() < NOISE


def test_interruption_ends_a_long_reading_and_leaves_a_clean_model(gemma: Load) -> None:
    model, fresh = gemma(4096), gemma(4096)
    model.evaluate(some_tokens(20))
    timer = threading.Timer(0.05, model.interrupt)
    timer.start()
    with pytest.raises(AnswerAbandoned):
        read_on(model, 20)
    held = model.position
    assert held == 520 or (held - 20) % BATCH == 0  # nothing half done
    with pytest.raises(AnswerAbandoned):
        model.evaluate([5])  # until it is taken back
    model.resume()
    model.roll_back(20)
    fresh.evaluate(some_tokens(20))
    for each in (model, fresh):
        each.evaluate([9, 8, 7], last=True)
    assert np.abs(model.logits() - fresh.logits()).max() < NOISE


def test_more_than_fits_is_refused_in_words(gemma: Load) -> None:
    model = gemma(512)
    model.evaluate(some_tokens(model.context_tokens))
    with pytest.raises(ModelError, match="do not fit"):
        model.evaluate([5])
