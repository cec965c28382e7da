"""Reading without outputs: what is held is the same to the bit, and less was computed for it.

The second is what scripts/patches does to llama.cpp; a build without the patch fails here.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.models.local_model import Sampling
from appliance.think.context import APART_TOKENS, LlamaContext, Rows
from appliance.think.gemma import Gemma
from appliance.think.llama_library import llama
from tests.think import tiny

POCKET = Path(__file__).parents[2] / "appliance/models/pocket"
MODELS = ("tiny", "tiny, quantised", "pocket")
SHARED = tiny.SHARED  # layers that write no keys and values; as many in the pocket model
CUTS = (0, 128, 165, 166, 294)  # of tokens, beyond every window; a batch of one among them


@pytest.fixture(scope="module", params=MODELS)
def model(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gemma]:
    text, audio = POCKET / "pocket-text.gguf", POCKET / "pocket-audio.gguf"
    if request.param != "pocket":
        folder = tmp_path_factory.mktemp("tiny")
        text, audio = folder / "text.gguf", folder / "audio.gguf"
        quantised = "quantised" in request.param
        tiny.write_text(text, per_layer=32 if quantised else tiny.PER_LAYER, quantised=quantised)
        tiny.write_audio(audio)
    loaded = Gemma(text, audio, context_tokens=512, threads=1, sampling=Sampling(temperature=0.0))
    yield loaded
    loaded.close()


@pytest.fixture
def context(model: Gemma) -> Iterator[LlamaContext]:
    opened = LlamaContext()
    opened.open(model.model, 512, 1, sequences=1)
    yield opened
    opened.close()


def content(model: Gemma) -> list[list[int] | Rows]:
    """Batches of tokens with two of soft tokens among them."""
    rng = np.random.default_rng(1)
    tokens = [int(token) for token in rng.integers(300, 600, CUTS[-1])]
    batches: list[list[int] | Rows] = [tokens[first:last] for first, last in pairwise(CUTS)]
    for at, count in ((1, 25), (3, 1)):
        batches.insert(at, rng.standard_normal((count, model.width)).astype(np.float32))
    return batches


def drawn(context: LlamaContext, count: int) -> tuple[list[int], Rows]:
    tokens, weights = [], []
    for _ in range(count):
        weights.append(context.logits())
        tokens.append(int(weights[-1].argmax()))
        context.decode(tokens[-1:], wanted=True)
    return tokens, np.array(weights)


def test_keys_values_weights_and_what_is_drawn_are_the_same_to_the_bit(
    model: Gemma, context: LlamaContext
) -> None:
    held = []
    for wanted in (True, False):
        context.roll_back(0)
        for batch in content(model):
            context.decode(batch, wanted=wanted)
        state = context.state()
        context.decode([301], wanted=True)
        tokens, weights = drawn(context, 24)
        held.append((state, tokens, weights.tobytes()))
    full, without = held
    assert len(full[0]) > 1000 * context.position / 8  # there is something in it
    assert len(set(full[1])) > 1
    assert full == without


def test_batches_with_and_without_outputs_may_alternate(
    model: Gemma, context: LlamaContext
) -> None:
    states = []
    for wanted in ((True,) * 6, (True, False, True, True, False, True), (False,) * 6):
        context.roll_back(0)
        for batch, with_output in zip(content(model), wanted, strict=True):
            context.decode(batch, wanted=with_output)
        states.append(context.state())
    assert states[0] == states[1] == states[2]


def test_without_outputs_only_layers_that_write_keys_and_values_are_computed(
    model: Gemma, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_of = ctypes.CDLL(str(Path(llama.__file__).parent / "lib/libggml-base.so")).ggml_get_name
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
    layers: set[int] = set()

    @llama.ggml_backend_sched_eval_callback  # type: ignore[untyped-decorator]
    def note(tensor: int, asked: bool, data: object) -> bool:
        if asked and (found := re.fullmatch(rb"ffn_out-(\d+)", name_of(tensor))):
            layers.add(int(found[1]))
        return not asked

    defaults = llama.llama_context_default_params

    def noting() -> Any:
        parameters = defaults()
        parameters.cb_eval = note
        return parameters

    monkeypatch.setattr(llama, "llama_context_default_params", noting)
    opened = LlamaContext()
    opened.open(model.model, 512, 1, sequences=1)
    try:
        computed = []
        for wanted in (True, False):
            layers.clear()
            opened.decode(list(range(300, 320)), wanted=wanted)
            computed.append(set(layers))
    finally:
        opened.close()
    count = llama.llama_model_n_layer(model.model)
    # Of the last one that writes them nothing is wanted but its keys and values.
    assert computed == [set(range(count)), set(range(count - SHARED - 1))]


@pytest.mark.parametrize(
    ("count", "last", "batches"),
    [
        (1, True, [(1, True)]),
        (APART_TOKENS - 1, True, [(APART_TOKENS - 1, True)]),
        (APART_TOKENS, True, [(APART_TOKENS - 1, False), (1, True)]),
        (APART_TOKENS, False, [(APART_TOKENS, False)]),
        (129, True, [(128, False), (1, True)]),
        (200, True, [(128, False), (71, False), (1, True)]),
        (200, False, [(128, False), (72, False)]),
        (0, True, []),
    ],
)
def test_of_many_tokens_the_last_is_read_by_itself(
    count: int, last: bool, batches: list[tuple[int, bool]]
) -> None:
    read = []

    class Noting(LlamaContext):
        context_tokens = 512

        def decode(self, content: Any, *, wanted: bool) -> None:
            read.append((len(content), wanted))

    Noting().evaluate([300] * count, last=last)
    assert read == batches
