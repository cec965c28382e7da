"""Measures batches by the length of the context before them, with and without flash attention.

In: a model's files. Out: times of the batches between the owner's last word and the answer's first
one: ten tokens of sound, the sixteen after them, and one sampled token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from appliance.models.local_model import LocalModel
from appliance.think.context import BATCH, LlamaContext
from appliance.think.gemma import Gemma
from lab.bench.model_memory import Stopwatch

READ = (10, 16)
ROUNDS = 4  # measurements of each batch at each depth
Add = Callable[..., None]


class FlashContext(LlamaContext):
    """The box's context, but with flash attention."""

    flash_attention = True


WAYS: dict[str, type[LlamaContext]] = {"flash attention": FlashContext, "without": LlamaContext}


def attention(
    files: LocalModel,
    threads: int,
    repeats: int,
    seed: int,
    add: Add,
    depths: Sequence[int],
    rounds: int | None = None,
) -> None:
    """Measure both in turns, behind `depths` tokens. `add`: takes a name and values by unit. Raises
    ModelError."""
    gemma = Gemma(
        files.text, files.audio, context_tokens=512, threads=threads, sampling=files.sampling
    )
    try:
        size = gemma.vocabulary.size
        tokens = np.random.default_rng(seed).integers(size // 2, size, depths[-1] + BATCH).tolist()
        for _ in range(repeats):
            for name, kind in WAYS.items():
                for depth, batch, ms in _measure(
                    gemma, kind(), threads, tokens, depths, rounds or ROUNDS
                ):
                    add(f"behind {depth}: {batch}, {name}", ms=ms)
    finally:
        gemma.close()


def _measure(
    gemma: Gemma,
    context: LlamaContext,
    threads: int,
    tokens: list[int],
    depths: Sequence[int],
    rounds: int,
) -> Iterator[tuple[int, str, float]]:
    """The depth, the name and the milliseconds of each batch."""
    context.open(gemma.model, len(tokens), threads, sequences=1)
    try:
        for depth in depths:
            context.evaluate(tokens[context.position : depth])
            position = context.position
            for count, drawn in (*((count, False) for count in READ), (1, True)):
                batch = "one drawn" if drawn else f"{count} read"
                for _ in range(rounds):
                    with Stopwatch() as watch:
                        context.evaluate(tokens[depth : depth + count], last=drawn)
                    context.roll_back(position)
                    yield depth, batch, 1000 * watch.wall_s
    finally:
        context.close()
