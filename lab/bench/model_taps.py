"""Measures the cost of reading each sampled token's hidden states, for `bench model taps`.

In: a model. Out: the time of each token, without and with reading its states.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from appliance.errors import ModelError
from appliance.models.local_model import LocalModel
from appliance.think.gemma import Gemma
from appliance.think.state_tap import LAYERS, StateTap

ANSWER = 24  # tokens of a run
RUNS = 20  # of each kind per repetition; they alternate, as the machine's speed drifts
BEFORE = 100  # tokens in the context before the run
PLAIN, TAPPED = "a token, drawn", "a token, drawn, and its states read"

Add = Callable[..., None]


def taps(files: LocalModel, threads: int, repeats: int, seed: int, add: Add) -> None:
    """Raises ModelError if there are no states, or if reading them changes the logits."""
    model = Gemma(
        files.text, files.audio, context_tokens=BEFORE + 2 * ANSWER, threads=threads,
        sampling=files.sampling,
    )  # fmt: skip
    try:
        layers = min(LAYERS, model.layers)
        tap = StateTap(model.context, model.model, layers)
        rng = np.random.default_rng(seed)
        size = model.vocabulary.size
        tokens = [int(token) for token in rng.integers(size // 2, size, BEFORE + ANSWER)]
        model.evaluate(tokens[:BEFORE], last=True)
        add("the states of a token", kB=4 * (layers + 1) * model.width / 1000)
        logits = {
            kind: _run(model, tap, tokens[BEFORE:], kind, add=None) for kind in (PLAIN, TAPPED)
        }
        if not np.array_equal(logits[PLAIN], logits[TAPPED]):
            raise ModelError("Reading the hidden states changes the logits of the next token.")
        for _ in range(repeats * RUNS):
            for kind in (PLAIN, TAPPED):
                _run(model, tap, tokens[BEFORE:], kind, add)
    finally:
        model.close()


def _run(
    model: Gemma, tap: StateTap, tokens: list[int], kind: str, add: Add | None
) -> npt.NDArray[np.float32]:
    """Evaluate one answer's tokens. Returns the logits of the next token."""
    model.roll_back(BEFORE)
    for number, token in enumerate(tokens):
        began_s = time.perf_counter()
        if kind == TAPPED and not tap.on:
            tap.switch_on()
        model.evaluate([token], last=True)
        model.sample()
        if kind == TAPPED:
            tap.read()
        if add is not None:  # an answer's first token includes the time of switching the tap on
            name = kind if number else f"the first {kind.removeprefix('a ')}"
            add(name, ms=1000 * (time.perf_counter() - began_s))
    logits = model.logits()
    tap.switch_off()
    return logits
