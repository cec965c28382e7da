"""Has the language model read a text in the place of its answer, for its hidden states.

In: a model and a text. Out: the tokens of the text, each with its states: those that it would have
left behind had the model drawn it. The question is always the same one, and not about the text.
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
    """`pieces`: of each token its text, in UTF-8 that may be cut anywhere. `states`: of each token,
    [tokens, 1 + LAYERS, width]."""

    pieces: list[bytes]
    states: States


class _TextGemma(Gemma):
    """It hears nothing: no audio encoder is loaded."""

    def _load_audio(self, path: Path, threads: int) -> None:
        pass


def recite(
    model: LocalModel, thinking: ThinkingSettings, tools: Sequence[Tool], text: str, threads: int
) -> Recited:
    """The states of `text`. Raises ModelError where the model cannot be read, has no states to
    give, or holds no text of this length."""
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
        for place, token in enumerate(tokens):  # one at a time, as they are drawn
            gemma.decode([token], wanted=True)
            states[place] = tap.read()[0]
        tap.switch_off()
        return Recited([gemma.piece(token) for token in tokens], states)
    finally:
        gemma.close()
