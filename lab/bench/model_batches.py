"""Measures small batches by size, to choose the pieces of speculative prefill.

In: a model's files. Out: times of batches after a conversation of some minutes: without an output,
with an output for the last token, with that token in a batch of its own, and with soft tokens
before it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from appliance.models.local_model import LocalModel
from appliance.think.context import LlamaContext, Run
from appliance.think.gemma import Gemma
from lab.bench.model_memory import Stopwatch

DEPTH = 1500  # tokens in the context
SIZES = (1, 2, 4, 6, 8, 10, 12, 15, 16, 20, 24)
DRAWN = (1, 4, 8, 16)
SOFT, WORDS = 4, 12  # the end of a question: its last soft tokens, and the text tokens after them
ROUNDS = 12  # rounds over all batches, so that other load on the machine affects all alike
Add = Callable[..., None]


def batches(
    files: LocalModel, threads: int, repeats: int, seed: int, add: Add, rounds: int | None = None
) -> None:
    """Time all batches. `add`: takes a name and values by unit. Raises ModelError."""
    gemma = Gemma(
        files.text, files.audio, context_tokens=512, threads=threads, sampling=files.sampling
    )
    context = LlamaContext()
    try:
        size = gemma.vocabulary.size
        rng = np.random.default_rng(seed)
        tokens = rng.integers(size // 2, size, DEPTH + max(SIZES)).tolist()
        rows = rng.standard_normal((SOFT, gemma.width)).astype(np.float32)
        context.open(gemma.model, len(tokens), threads, sequences=1)
        context.evaluate(tokens[:DEPTH])
        for _ in range(repeats * (rounds or ROUNDS)):
            for count in SIZES:
                _time(context, f"{count} read", [[tokens[DEPTH : DEPTH + count]]], add)
            for count in DRAWN:
                drawn = tokens[DEPTH : DEPTH + count]
                _time(context, f"{count} read, one drawn", [[drawn]], add, last=True)
            many = tokens[DEPTH : DEPTH + DRAWN[-1]]
            name = f"{len(many)} read, the last by itself, one drawn"
            _time(context, name, [[many[:-1]], [many[-1:]]], add, last=True)
            runs = [rows, tokens[DEPTH : DEPTH + WORDS]]
            name = f"{len(rows)} soft, {WORDS} read, one drawn"
            _time(context, f"{name}, apart", [[run] for run in runs], add, last=True)
            _time(context, f"{name}, in one batch", [runs], add, last=True)
    finally:
        context.close()
        gemma.close()


def _time(
    context: LlamaContext, name: str, batches: list[list[Run]], add: Add, *, last: bool = False
) -> None:
    position = context.position
    with Stopwatch() as watch:
        for batch in batches:
            context.decode(*batch, wanted=last and batch is batches[-1])
    context.roll_back(position)
    add(name, ms=1000 * watch.wall_s)
