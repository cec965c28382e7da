"""Evaluation with few outputs or none gives the same state bit for bit and computes less.

A patch in scripts/patches makes llama.cpp compute less; a build without the patch fails here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from appliance.think.context import LlamaContext, Rows, Run
from appliance.think.gemma import Gemma
from appliance.think.llama_library import llama
from tests.think import tiny
from tests.think.built import MODELS, loaded, opened_context
from tests.think.computed_rows import note_rows

SHARED = tiny.SHARED  # layers that write no keys and values; the pocket model has as many
CUTS = (0, 128, 165, 166, 294)  # of tokens, beyond every window; a batch of one among them


@pytest.fixture(scope="module", params=MODELS)
def model(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gemma]:
    with loaded(request.param, tmp_path_factory.mktemp("built")) as found:
        yield found


@pytest.fixture
def context(model: Gemma) -> Iterator[LlamaContext]:
    with opened_context(model) as opened:
        yield opened


def content(model: Gemma) -> list[list[int] | Rows]:
    """Batches of tokens, and two batches of soft tokens among them."""
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


def decode(context: LlamaContext, content: list[int] | Rows, outputs: Sequence[int]) -> None:
    """Decode one batch; `outputs`: the positions in it that get an output."""
    real = llama.llama_decode

    def flagged(handle: Any, batch: Any) -> int:
        for at in range(batch.n_tokens):
            batch.logits[at] = int(at in outputs)
        return int(real(handle, batch))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llama, "llama_decode", flagged)
        context.decode(content, wanted=bool(outputs))


def test_keys_values_logits_and_drawn_tokens_are_the_same_bit_for_bit(
    model: Gemma, context: LlamaContext
) -> None:
    held = []
    for which in ("all", "last", "none"):
        context.roll_back(0)
        for batch in content(model):
            count = len(batch)
            outputs = {"all": range(count), "last": [count - 1], "none": []}[which]
            decode(context, batch, outputs)
        state = context.state()
        context.decode([301], wanted=True)
        tokens, weights = drawn(context, 24)
        held.append((state, tokens, weights.tobytes()))
    full, last, none = held
    assert len(full[0]) > 1000 * context.position / 8  # the state is not empty
    assert len(set(full[1])) > 1
    assert full == last == none


def weights_at(context: LlamaContext, place: int) -> npt.NDArray[np.float32]:
    pointer: Any = llama.llama_get_logits_ith(context.context, place)
    return np.ctypeslib.as_array(pointer, (len(context.logits()),)).copy()


@pytest.mark.parametrize("outputs", [(19,), (0,), (7, 19), (0, 3, 11, 18)])
def test_the_logits_of_a_few_outputs_equal_those_of_a_batch_with_all(
    model: Gemma, context: LlamaContext, outputs: tuple[int, ...]
) -> None:
    before, batch = content(model)[:2], list(range(300, 320))
    found = []
    for wanted in (range(20), outputs):
        context.roll_back(0)
        for previous in before:
            context.decode(previous, wanted=False)
        decode(context, batch, wanted)
        found.append(np.array([weights_at(context, place) for place in outputs]))
    everything, few = found
    assert np.ptp(everything, axis=1).min() > 1  # another row would differ by as much
    # Fewer rows go through other kernels, which add in another order.
    assert np.abs(few - everything).max() < 0.02 * everything.std()


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


def test_layers_without_keys_and_values_are_computed_only_for_outputs(
    model: Gemma, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = note_rows(monkeypatch)
    opened = LlamaContext()
    opened.open(model.model, 512, 1, sequences=1)
    computed = []
    try:
        for outputs in (range(20), [19], [3, 19], []):
            layers.clear()
            decode(opened, list(range(300, 320)), outputs)
            computed.append(dict(layers))
    finally:
        opened.close()
    count = llama.llama_model_n_layer(model.model)
    # Of the last layer that writes them only its keys and values are needed.
    writing = count - SHARED - 1
    assert computed == [
        dict.fromkeys(range(count), 20),
        *({at: 20 if at < writing else few for at in range(count)} for few in (1, 2)),
        dict.fromkeys(range(writing), 20),
    ]


@pytest.mark.parametrize(
    ("count", "last", "batches"),
    [
        (1, True, [(1, True)]),
        (16, True, [(16, True)]),
        (16, False, [(16, False)]),
        (129, True, [(128, False), (1, True)]),
        (200, True, [(128, False), (72, True)]),
        (200, False, [(128, False), (72, False)]),
        (0, True, []),
    ],
)
def test_only_the_last_token_of_the_last_batch_has_an_output(
    count: int, last: bool, batches: list[tuple[int, bool]]
) -> None:
    read = []

    class RecordingContext(LlamaContext):
        context_tokens = 512

        def decode(self, *runs: Run, wanted: bool) -> None:
            read.append((sum(map(len, runs)), wanted))

    RecordingContext().evaluate([300] * count, last=last)
    assert read == batches


def test_can_draw_is_true_only_directly_after_an_output(
    context: LlamaContext,
) -> None:
    drawable = []
    context.decode(list(range(300, 310)), wanted=False)
    drawable.append(context.can_draw)
    context.decode(list(range(310, 316)), wanted=True)
    drawable.append(context.can_draw)
    state = context.state()
    context.roll_back(16)  # the current position
    drawable.append(context.can_draw)
    context.roll_back(15)
    drawable.append(context.can_draw)
    context.decode([315], wanted=True)
    drawable.append(context.can_draw)
    context.restore(state, 16)
    drawable.append(context.can_draw)
    assert drawable == [False, True, True, False, True, False]


def test_evaluating_another_sequence_discards_the_logits(model: Gemma) -> None:
    opened = LlamaContext()
    opened.open(model.model, 512, 1)
    try:
        opened.decode([300, 301], wanted=True)
        opened.select_sequence(1)
        drawable = [opened.can_draw]
        opened.decode([300, 302], wanted=False)
        opened.select_sequence(0)
        drawable.append(opened.can_draw)
    finally:
        opened.close()
    assert drawable == [False, False]
