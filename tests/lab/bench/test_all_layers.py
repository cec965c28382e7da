"""Without the patch every layer is computed for every token: so it is here, and else it is not."""

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


def test_all_layers_are_computed_for_all_tokens_from_the_next_batch_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text, audio = POCKET / "pocket-text.gguf", POCKET / "pocket-audio.gguf"
    model = Gemma(text, audio, context_tokens=512, threads=1, sampling=Sampling())
    layers, opened, tokens = note_rows(monkeypatch), LlamaContext(), list(range(300, 320))
    count = llama.llama_model_n_layer(model.model)
    try:
        opened.open(model.model, 512, 1, sequences=1)
        opened.decode(tokens, wanted=False)
        assert len(layers) < count
        compute_all_layers(opened.context, model.model)
        for wanted in (False, True):
            layers.clear()
            opened.decode(tokens, wanted=wanted)
            assert layers == dict.fromkeys(range(count), len(tokens))
    finally:
        opened.close()
        model.close()
