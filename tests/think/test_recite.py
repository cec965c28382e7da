"""Teacher forcing: the states of a recited text equal those of the same text when drawn."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.models.local_model import Sampling
from appliance.models.store import STANDS_IN, ModelStore
from appliance.settings import load_defaults
from appliance.think.gemma import Gemma
from appliance.think.recite import QUESTION, recite
from appliance.think.state_tap import StateTap

pytestmark = pytest.mark.process
SETTINGS = load_defaults()
POCKET = ModelStore.of(SETTINGS).language_model(STANDS_IN)
THINKING = SETTINGS.thinking
DRAWN = 12  # tokens, at most


def drawn() -> tuple[str, np.ndarray]:
    """The model's answer to the question, and its states."""
    gemma = Gemma(POCKET.text, POCKET.audio, context_tokens=512, threads=1,
                  sampling=Sampling(temperature=0.0))  # fmt: skip
    try:
        tap = StateTap(gemma.context, gemma.model)
        before = (
            f"<bos><|turn>system\n{POCKET.persona}<turn|>\n"
            f"<|turn>user\n{QUESTION}<turn|>\n<|turn>model\n"
        )
        gemma.evaluate(gemma.tokenize(before, marks=True), last=True)
        tap.switch_on()
        text, states = b"", []
        for _ in range(DRAWN):
            token = int(gemma.logits().argmax())
            if gemma.is_end(token):
                break
            gemma.decode([token], wanted=True)
            states.append(tap.read()[0])
            text += gemma.piece(token)
        return text.decode(), np.stack(states)
    finally:
        gemma.close()


def test_a_recited_answer_has_the_states_of_the_drawn_one() -> None:
    text, states = drawn()
    again = recite(POCKET, THINKING, (), text, 1)
    assert b"".join(again.pieces).decode() == text
    assert again.states.shape == states.shape
    # A prompt read in other pieces goes through other kernels, which round differently.
    np.testing.assert_allclose(again.states, states, atol=2e-2, rtol=1e-2)


def test_a_text_longer_than_the_context_is_refused() -> None:
    small = dataclasses.replace(POCKET, context_tokens=256)
    with pytest.raises(ModelError, match=r"The text has \d+ tokens: more than the model holds"):
        recite(small, THINKING, (), "The sea is wide. " * 60, 1)
