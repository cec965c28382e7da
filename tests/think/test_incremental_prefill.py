"""IncrementalPrefill reads only the part of a prompt that the context does not hold yet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from appliance.think.abandoned import AnswerAbandoned
from appliance.think.context import BATCH
from appliance.think.incremental_prefill import (
    LEAST_TOKENS,
    PIECE_S,
    IncrementalPrefill,
    PrefillPace,
)
from appliance.think.tokenized_prompt import TokenizedPrompt
from tests.think.reading import NOISE, Load, some_tokens


def prompt(tokens: Sequence[int]) -> TokenizedPrompt:
    return TokenizedPrompt((tuple(tokens),), np.array(tokens, np.int64))


TOKENS = some_tokens(200)


def test_only_the_tokens_that_differ_are_read(gemma: Load) -> None:
    model = gemma()
    reader = IncrementalPrefill(model)
    assert reader.prefill(prompt(TOKENS[:50]), draw=False) == 50
    assert reader.prefill(prompt(TOKENS[:80]), draw=False) == 30
    assert reader.prefill(prompt([*TOKENS[:60], 7, 8]), draw=False) == 2
    assert reader.held.tolist() == [*TOKENS[:60], 7, 8]
    assert model.position == 62


def test_before_drawing_the_last_token_is_read_again(
    gemma: Load,
) -> None:
    model, fresh = gemma(), gemma()
    reader = IncrementalPrefill(model)
    reader.prefill(prompt(TOKENS), draw=False)
    assert reader.prefill(prompt(TOKENS[:90]), draw=True) == 1
    fresh.evaluate(TOKENS[:90], last=True)
    assert np.abs(model.logits() - fresh.logits()).max() < NOISE
    assert reader.prefill(prompt(TOKENS[:90]), draw=True) == 0, (
        "the next token can be drawn already"
    )


def test_reading_in_pieces_follows_the_pace_and_holds_the_whole_prompt(gemma: Load) -> None:
    model = gemma()
    at_s = [0.0]

    def slow() -> float:
        at_s[0] += PIECE_S
        return at_s[0]

    reader = IncrementalPrefill(model, clock=slow)
    whole, positions = prompt(TOKENS), []
    while not reader.prefill_piece(whole):
        positions.append(model.position)
    assert positions[:2] == [LEAST_TOKENS, 2 * LEAST_TOKENS]
    assert reader.held.tolist() == TOKENS
    assert reader.prefill_piece(whole)  # nothing left to read
    assert model.read == len(TOKENS)


@pytest.mark.parametrize(
    ("tokens", "seconds", "next_tokens"),
    [
        (32, PIECE_S, 32),
        (32, PIECE_S / 2, 64),
        (64, 2 * PIECE_S, 32),
        (128, 10 * PIECE_S, LEAST_TOKENS),  # on a slow machine
        (128, 0.0, BATCH),  # on a machine of unlimited speed
        (5, 100.0, LEAST_TOKENS),  # a short piece says little about the speed
    ],
)
def test_a_piece_is_as_long_as_half_a_second_of_work(
    tokens: int, seconds: float, next_tokens: int
) -> None:
    pace = PrefillPace()
    pace.record(tokens, seconds)
    assert pace.tokens == next_tokens


def test_tokens_read_before_an_interruption_are_not_read_again(gemma: Load) -> None:
    model = gemma()
    reader = IncrementalPrefill(model)
    reader.prefill(prompt(TOKENS[:50]), draw=False)
    model.interrupt()
    with pytest.raises(AnswerAbandoned):
        reader.prefill(prompt(TOKENS), draw=False)
    assert reader.held.tolist() == TOKENS[:50]
    model.resume()
    assert reader.prefill(prompt(TOKENS), draw=False) == 150


def test_drawn_tokens_are_held_as_far_as_they_were_evaluated(gemma: Load) -> None:
    model = gemma()
    reader = IncrementalPrefill(model)
    reader.prefill(prompt(TOKENS[:10]), draw=True)
    model.evaluate([7], last=True)
    reader.record_sampled([7, 8])  # the second was drawn, but not evaluated
    assert reader.held.tolist() == [*TOKENS[:10], 7]


def test_two_readers_of_one_model_hold_separate_sequences(gemma: Load) -> None:
    model = gemma()
    first, second = IncrementalPrefill(model, 0), IncrementalPrefill(model, 1)
    first.prefill(prompt(TOKENS[:40]), draw=False)
    second.prefill(prompt(TOKENS[100:120]), draw=False)
    assert first.prefill(prompt(TOKENS[:41]), draw=False) == 1
    assert second.held.tolist() == TOKENS[100:120]


def test_a_state_is_restored_completely_or_not_at_all(gemma: Load) -> None:
    model, fresh = gemma(), gemma()
    reader, next_start = IncrementalPrefill(model), IncrementalPrefill(fresh)
    reader.prefill(prompt(TOKENS[:60]), draw=False)
    state = reader.state()
    assert next_start.restore(state, prompt(TOKENS[:60]))
    assert next_start.reaches(60)
    assert next_start.prefill(prompt(TOKENS[:61]), draw=True) == 1
    reader.prefill(prompt(TOKENS[:61]), draw=True)
    assert np.abs(model.logits() - fresh.logits()).max() < NOISE
    assert not next_start.restore(state, prompt(TOKENS[:59]))  # of a different length
    assert next_start.held.tolist() == []
    assert next_start.prefill(prompt(TOKENS[:60]), draw=False) == 60
