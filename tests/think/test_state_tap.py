"""StateTap: exact states, off until switched on, and a clear error where it is not available."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.models.local_model import Sampling
from appliance.models.store import STANDS_IN, ModelStore
from appliance.settings import load_defaults
from appliance.think import state_tap
from appliance.think.gemma import Gemma
from appliance.think.llama_library import llama
from appliance.think.state_tap import LAYERS, StateTap, lacking
from tests.think.graph_values import GraphContext
from tests.think.reading import Load, some_tokens

GREEDY = Sampling(temperature=0.0)
SPOKEN = "The sea is wide, and the wind is cold."


@pytest.fixture(scope="module")
def pocket_gemma() -> Iterator[Gemma]:
    files = ModelStore.of(load_defaults()).language_model(STANDS_IN)
    model = Gemma(files.text, files.audio, context_tokens=512, threads=1, sampling=GREEDY)
    yield model
    model.close()


def graph(model: Gemma, count: int = LAYERS) -> GraphContext:
    layers = llama.llama_model_n_layer(model.model)
    last = [f"l_out-{layer}" for layer in range(layers - count, layers - 1)]
    return GraphContext(model.model, ["inp_scaled", *last, "result_norm"])


@pytest.mark.parametrize("together", [1, 5])
def test_states_equal_the_values_of_the_graph_bit_for_bit(
    pocket_gemma: Gemma, together: int
) -> None:
    context = graph(pocket_gemma)
    tap = StateTap(context.handle, pocket_gemma.model)
    tokens = pocket_gemma.tokenize(SPOKEN, marks=False)
    context.read(tokens[:-together])
    tap.switch_on()
    context.read(tokens[-together:])
    found = tap.read(together)
    tap.switch_off()
    assert found.shape == (together, 1 + LAYERS, pocket_gemma.width)
    names = list(context.values)  # in the order in which the graph computes them
    assert names[0] == "inp_scaled"
    assert names[-1] == "result_norm"
    for row, name in enumerate(names):
        assert np.array_equal(found[:, row], context.values[name]), name
    context.close()


def test_the_last_layers_are_read_and_not_the_first(gemma: Load) -> None:
    model, count = gemma(), 3
    assert llama.llama_model_n_layer(model.model) > count
    context = graph(model, count)
    tap = StateTap(context.handle, model.model, count)
    context.read(some_tokens(20))
    tap.switch_on()
    context.read([333])
    pairs = zip(tap.read()[0], context.values.values(), strict=True)
    assert all(np.array_equal(row, values[0]) for row, values in pairs)
    context.close()


def test_a_model_of_fewer_layers_is_refused(gemma: Load) -> None:
    model = gemma()
    layers = llama.llama_model_n_layer(model.model)
    with pytest.raises(ModelError, match=f"{layers} layers"):
        StateTap(model.context, model.model, layers + 1)


def test_the_drawn_tokens_are_the_same_with_and_without_the_tap(pocket_gemma: Gemma) -> None:
    def drawn(tapped: bool) -> tuple[list[int], list[np.ndarray]]:
        pocket_gemma.roll_back(0)
        tap = StateTap(pocket_gemma.context, pocket_gemma.model)
        asked = "<bos><|turn>user\ntell me about the sea<turn|>\n<|turn>model\n"
        pocket_gemma.evaluate(pocket_gemma.tokenize(asked, marks=True), last=True)
        if tapped:
            tap.switch_on()
        tokens, states = list[int](), list[np.ndarray]()
        while not pocket_gemma.is_end(token := pocket_gemma.sample()) and len(tokens) < 40:
            pocket_gemma.evaluate([token], last=True)
            tokens.append(token)
            if tapped:
                states.append(tap.read()[0])
        tap.switch_off()
        return tokens, states

    plain, tapped = drawn(tapped=False), drawn(tapped=True)
    assert len(plain[0]) > 10
    assert tapped[0] == plain[0]
    assert all(np.isfinite(rows).all() for rows in tapped[1])
    assert len({rows.tobytes() for rows in tapped[1]}) == len(tapped[1])  # each token has its own


def test_reading_a_switched_off_tap_raises_before_llama_cpp_aborts(pocket_gemma: Gemma) -> None:
    context = graph(pocket_gemma)
    tap = StateTap(context.handle, pocket_gemma.model)
    tap.switch_off()  # it was never on
    context.read(some_tokens(1))
    with pytest.raises(ModelError, match="switched off"):
        tap.read()
    context.close()


def test_another_version_or_build_is_refused_with_a_reason() -> None:
    assert lacking() == ""
    assert "0.3.36" in lacking(version="0.3.99")
    assert "has no function _Z30llama_set" in lacking(library=ctypes.CDLL(None))


def test_the_installed_llama_cpp_is_the_tested_version() -> None:
    assert llama.__version__ == state_tap.TRIED
