"""Compares the speed of token generation in an answer of the box and in llama.cpp's own bench.

In: a model's files. Out: tokens a second of both, in turns. llama.cpp's is `test_gen` of its
`llama-bench`: one random token a call, without sampling, with default parameters except the threads
and, here, the depth. The box's samples, checks for control tokens and the end, and has a context of
two sequences of the settings' length.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from appliance.models.local_model import LocalModel
from appliance.settings import Settings
from appliance.think.answer_drawing import AnswerDrawing
from appliance.think.context import BATCH
from appliance.think.gemma import Gemma
from appliance.think.llama_library import llama

DEPTH, DRAWN = 512, 48
Add = Callable[..., None]


class EndlessGemma(Gemma):
    """A Gemma whose answers always run to the token limit; random weights end them anywhere."""

    def is_end(self, token: int) -> bool:
        return False


def drawing(
    files: LocalModel, settings: Settings, threads: int, repeats: int, seed: int, add: Add
) -> None:
    """Measure both in turns. `add`: takes a name and values by unit."""
    tokens = settings.thinking.context_tokens
    gemma = EndlessGemma(
        files.text, files.audio, context_tokens=tokens, threads=threads, sampling=files.sampling
    )
    bare_context = _bare_context(gemma.model, threads)
    try:
        size = gemma.vocabulary.size
        tokens_to_evaluate = np.random.default_rng(seed).integers(size // 2, size, DEPTH + DRAWN)
        for _ in range(repeats):
            rates = (
                _as_llama_bench(bare_context, tokens_to_evaluate),
                _as_an_answer(gemma, tokens_to_evaluate),
            )
            add("llama.cpp's own bench", tokens_a_second=rates[0])
            add("an answer of the box", tokens_a_second=rates[1])
            add("the latter by the former", share=rates[1] / rates[0])
    finally:
        llama.llama_free(bare_context)
        gemma.close()


def _bare_context(model: Any, threads: int) -> Any:
    parameters = llama.llama_context_default_params()
    parameters.n_ctx = DEPTH + DRAWN
    parameters.n_threads = parameters.n_threads_batch = threads
    return llama.llama_init_from_model(model, parameters)


def _as_llama_bench(context: Any, tokens: Any) -> float:
    llama.llama_memory_clear(llama.llama_get_memory(context), True)
    prompt = (llama.llama_token * DEPTH)(*map(int, tokens[:DEPTH]))
    llama.llama_decode(context, llama.llama_batch_get_one(prompt, DEPTH))
    llama.llama_synchronize(context)
    began_s = time.monotonic()
    for token in tokens[DEPTH:]:
        batch = (llama.llama_token * 1)(int(token))
        llama.llama_decode(context, llama.llama_batch_get_one(batch, 1))
        llama.llama_synchronize(context)
    return DRAWN / (time.monotonic() - began_s)


def _as_an_answer(gemma: Gemma, tokens: Any) -> float:
    gemma.roll_back(0)
    for start in range(0, DEPTH, BATCH):
        part = [int(token) for token in tokens[start : start + BATCH]]
        gemma.evaluate(part, last=start + BATCH >= DEPTH)
    answer = AnswerDrawing(gemma, {}, DRAWN, lambda tokens: None)
    began_s = time.monotonic()
    for _ in answer.pieces():
        continue
    return len(answer.tokens) / (time.monotonic() - began_s)
