"""Evaluates a text in place of the language model's answer to get its hidden states.

In: a model and a text. Out: the tokens of the text, each with the states that it would have if the
model had sampled it. The question before the text is always the same and unrelated to the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from appliance.errors import ModelError
from appliance.models.local_model import LocalModel, Sampling
from appliance.settings import ThinkingSettings
from appliance.think import prompt
from appliance.think.gemma import Gemma
from appliance.think.history import UNASKED, History
from appliance.think.state_tap import LAYERS, States, StateTap
from appliance.think.template_check import PromptStyle
from appliance.tools.table import Tool

QUESTION = "tell me something"


class Recited(NamedTuple):
    """The tokens of a text. `pieces`: UTF-8 bytes of each token, which may be a part of a
    character. `states`: [tokens, 1 + LAYERS, width]."""

    pieces: list[bytes]
    states: States


class _TextGemma(Gemma):
    """Gemma without its audio encoder, which text does not need."""

    def _load_audio(self, path: Path, threads: int) -> None:
        pass


def recite(
    model: LocalModel, thinking: ThinkingSettings, tools: Sequence[Tool], text: str, threads: int
) -> Recited:
    """Return the tokens and states of `text`. Raises ModelError if the model cannot be loaded or
    gives no hidden states, or if the text does not fit into its context."""
    history = History()
    history.add_turn(UNASKED, text=QUESTION)
    style = PromptStyle.of(model, thinking, tools)
    parts = prompt.render(
        style.persona, history, open_last=True, tools=style.tools, instruction=style.instruction
    )
    gemma = _TextGemma(
        model.text, model.audio, threads=threads, sampling=Sampling(temperature=0.0),
        context_tokens=min(thinking.context_tokens, model.context_tokens),
    )  # fmt: skip
    try:
        tap = StateTap(gemma.context, gemma.model)
        for part in parts:
            assert isinstance(part, prompt.ControlText | prompt.PlainText)
            marks = isinstance(part, prompt.ControlText)
            gemma.evaluate(gemma.tokenize(part.text, marks=marks))
        tokens = gemma.tokenize(text, marks=False)
        if gemma.position + len(tokens) > gemma.context_tokens:
            raise ModelError(f"The text has {len(tokens)} tokens: more than the model holds.")
        states = np.empty((len(tokens), 1 + LAYERS, gemma.width), np.float32)
        tap.switch_on()
        for place, token in enumerate(tokens):  # one at a time, as in sampling
            gemma.decode([token], wanted=True)
            states[place] = tap.read()[0]
        tap.switch_off()
        return Recited([gemma.piece(token) for token in tokens], states)
    finally:
        gemma.close()
