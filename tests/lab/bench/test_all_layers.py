"""compute_all_layers() does what llama.cpp does without the patch: all layers for all tokens."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.models.local_model import Sampling
from appliance.think.context import LlamaContext
from appliance.think.gemma import Gemma
from appliance.think.llama_library import llama
from lab.bench.all_layers import compute_all_layers
from tests.think.computed_rows import note_rows

POCKET = Path(__file__).parents[3] / "appliance/models/pocket"


def test_after_compute_all_layers_every_layer_is_computed_for_every_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text, audio = POCKET / "pocket-text.gguf", POCKET / "pocket-audio.gguf"
    model = Gemma(text, audio, context_tokens=512, threads=1, sampling=Sampling())
    layers, context, tokens = note_rows(monkeypatch), LlamaContext(), list(range(300, 320))
    count = llama.llama_model_n_layer(model.model)
    try:
        context.open(model.model, 512, 1, sequences=1)
        context.decode(tokens, wanted=False)
        assert len(layers) < count
        compute_all_layers(context.context, model.model)
        for wanted in (False, True):
            layers.clear()
            context.decode(tokens, wanted=wanted)
            assert layers == dict.fromkeys(range(count), len(tokens))
    finally:
        context.close()
        model.close()
