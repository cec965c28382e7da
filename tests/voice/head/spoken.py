"""Hidden states of a text as an answer of the pocket model, read with the box's tap."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import appliance.models
from appliance.models.local_model import Sampling
from appliance.models.store import STANDS_IN, ModelStore
from appliance.settings import load_defaults
from appliance.think.gemma import Gemma
from appliance.think.state_tap import StateTap
from tests.think.graph_values import GraphContext

SHIPPED = Path(appliance.models.__file__).parent / "head"
ASKED = "<bos><|turn>user\n{}<turn|>\n<|turn>model\n"


class Recited(NamedTuple):
    """states: [tokens, 1 + layers, width], the embedding first."""

    pieces: list[str]
    states: npt.NDArray[np.float32]


def recite(text: str, request: str = "tell me about the moon") -> Recited:
    """The pieces and states of `text` as the answer to `request`."""
    files = ModelStore.of(load_defaults()).language_model(STANDS_IN)
    greedy = Sampling(temperature=0.0)
    model = Gemma(files.text, files.audio, context_tokens=512, threads=1, sampling=greedy)
    context = GraphContext(model.model, [])
    try:
        tap = StateTap(context.handle, model.model)
        context.read(model.tokenize(ASKED.format(request), marks=True))
        tokens = model.tokenize(text, marks=False)
        tap.switch_on()
        context.read(tokens)
        found = tap.read(len(tokens))
        tap.switch_off()
        return Recited([model.piece(token).decode() for token in tokens], found)
    finally:
        context.close()
        model.close()
