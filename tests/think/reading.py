"""Tokens and sounds for a model to evaluate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from appliance.think.gemma import Gemma

Load = Callable[..., Gemma]
NOISE = 0.02  # of a logit: the order of float sums differs with the size of a batch


def sound(seconds: float, seed: int = 0) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    samples = np.random.default_rng(seed).normal(0, 3000, int(16_000 * seconds))
    return samples.astype(np.int16)


def some_tokens(count: int) -> list[int]:
    return [300 + i * 7 % 200 for i in range(count)]


def draw(model: Gemma, count: int) -> list[int]:
    tokens = []
    for _ in range(count):
        tokens.append(model.sample())
        model.evaluate(tokens[-1:], last=True)
    return tokens


def read_until_interrupted(model: Gemma, start: int) -> None:
    """Evaluate tokens until another thread interrupts the model."""
    while True:
        model.evaluate(some_tokens(500))
        model.roll_back(start)
