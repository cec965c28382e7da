"""Tokens and soft tokens in one batch give the same logits as in separate batches.

A patch in scripts/patches adds this to llama.cpp; a build without the patch fails here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from appliance.think.context import BATCH, LlamaContext, Run, packed
from appliance.think.gemma import Gemma
from appliance.think.llama_library import llama
from tests.think.built import MODELS, loaded, opened_context


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


def question(model: Gemma, seed: int = 1) -> list[Run]:
    """Words, sound, words, sound, words; no run's length is a multiple of another's."""
    rng = np.random.default_rng(seed)
    words = [int(token) for token in np.random.default_rng(2).integers(300, 600, 40)]
    rows = [rng.standard_normal((count, model.width)).astype(np.float32) for count in (6, 3)]
    return [words[:9], rows[0], words[9:22], rows[1], words[22:]]


def weights(context: LlamaContext, *batches: list[Run]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The logits of the next token and of four more after it, after these batches."""
    context.roll_back(0)
    for batch in batches:
        context.decode(*batch, wanted=batch is batches[-1])
    found = []
    for token in (301, 302, 303, 304, 305):
        found.append(context.logits())
        context.decode([token], wanted=True)
    return np.array(found)


def test_a_mixed_batch_gives_the_logits_of_separate_batches(
    model: Gemma, context: LlamaContext
) -> None:
    runs = question(model)
    apart = weights(context, *([run] for run in runs))
    together = weights(context, runs)
    assert np.ptp(apart, axis=1).min() > 1
    # More rows go through other kernels, which add in another order.
    assert np.abs(together - apart).max() < 0.02 * apart.std()
    # Different sound gives different logits: the sound is not ignored.
    assert np.abs(weights(context, question(model, 3)) - apart).max() > 0.1 * apart.std()


def test_a_batch_of_sound_and_words_equals_separate_batches(
    model: Gemma, context: LlamaContext
) -> None:
    _, sound, words, *_ = question(model)
    apart = weights(context, [sound], [words])
    assert np.abs(weights(context, [sound, words]) - apart).max() < 0.02 * apart.std()


def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that records the number of tokens of each llama_decode call from now on."""
    real, seen = llama.llama_decode, []

    def noting(handle: Any, batch: Any) -> int:
        seen.append(int(batch.n_tokens))
        return int(real(handle, batch))

    monkeypatch.setattr(llama, "llama_decode", noting)
    return seen


def test_a_question_is_one_batch_or_one_per_run_without_the_patch(
    model: Gemma, context: LlamaContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = question(model)
    seen = calls(monkeypatch)
    context.evaluate(*runs, last=True)
    together = context.logits()
    assert seen == [49]
    assert context.can_draw
    seen.clear()
    with opened_context(model, mixed=False) as unpatched:
        unpatched.evaluate(*runs, last=True)
        assert seen == [9, 6, 13, 3, 18]
        assert np.abs(unpatched.logits() - together).max() < 0.02 * together.std()


def sizes(runs: list[Run], *, mixed: bool) -> list[list[int]]:
    return [[len(run) for run in batch] for batch in packed(runs, mixed=mixed)]


def test_batches_are_as_few_as_they_can_be() -> None:
    sound = np.zeros((BATCH, 4), np.float32)
    assert sizes([[5] * 9, sound[:6], [7]], mixed=True) == [[9, 6, 1]]
    assert sizes([[5] * 9, sound[:6], [7]], mixed=False) == [[9], [6], [1]]
    assert sizes([[5] * 9, sound], mixed=True) == [[9, BATCH - 9], [9]]
    assert sizes([[5] * (2 * BATCH)], mixed=True) == [[BATCH], [BATCH]]
    assert sizes([[], sound[:0]], mixed=True) == []


def test_packing_keeps_all_values_in_order() -> None:
    tokens, sound = list(range(1, 200)), np.arange(300, dtype=np.float32).reshape(-1, 1)
    batches = list(packed([tokens, sound], mixed=True))
    flat = [float(value) for batch in batches for run in batch for value in np.ravel(run)]
    assert flat == [*tokens, *range(300)]


def test_the_padding_token_is_never_packed_with_soft_tokens() -> None:
    sound = np.zeros((3, 4), np.float32)
    assert sizes([[5], sound, [7, 0, 8], sound, [6]], mixed=True) == [[1, 3], [3], [3, 1]]
