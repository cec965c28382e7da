"""Measures prefill and sampling by computed layers, by threads, and beside a busy process.

In: a model's files. Out: times, and the number of bytes in which two ways of prefill differ (none
if the skipped layers have no effect). The neighbour is a process that computes without a pause.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.models.local_model import LocalModel
from appliance.think.context import BATCH, LlamaContext
from appliance.think.gemma import Gemma
from lab.bench.all_layers import compute_all_layers
from lab.bench.model_memory import Stopwatch
from lab.bench.model_sequence import Add

CONTEXT_TOKENS = 1024
BEFORE = 8  # tokens evaluated before the measurement: a context's first batch is slower
READ = 3 * BATCH
DRAWN = 32  # tokens, one after the other
WAYS = {"all layers": True, "layers with keys and values": False}
# Nice values of the neighbour; None: no neighbour.
NEIGHBOURS: dict[str, int | None] = {
    "alone": None, "a busy neighbour": 0, "a busy neighbour, nice 19": 19,
}  # fmt: skip
Array = npt.NDArray[Any]
_NEIGHBOUR = """
import os, sys
os.nice(int(sys.argv[1]))
print(flush=True)
while os.getppid() == int(sys.argv[2]):
    sum(range(100_000))
"""


def readings(files: LocalModel, threads: int, repeats: int, seed: int, add: Add) -> None:
    """Prefill the same tokens with all layers and without those that have no effect, in turns.
    Raises ModelError."""
    with _model(files, threads) as gemma:
        for number in range(repeats):
            tokens = _tokens(gemma, seed + number)
            results = {way: _read(gemma, threads, tokens, way, add) for way in WAYS}
            first, second = results.values()
            for name in first:
                add(f"{name}, the two ways", differing_bytes=differing(first[name], second[name]))


def by_threads(files: LocalModel, repeats: int, seed: int, add: Add) -> None:
    """Measure one thread up to as many as there are cores, alone and beside a neighbour. Raises
    ModelError."""
    with _model(files, 1) as gemma:
        for number in range(repeats):
            tokens = _tokens(gemma, seed + number)
            for threads in range(1, len(os.sched_getaffinity(0)) + 1):
                thread_count = "1 thread" if threads == 1 else f"{threads} threads"
                for name, nice in NEIGHBOURS.items():
                    with neighbour(nice):
                        _time_tokens(gemma, threads, tokens, f"{thread_count}, {name}", add)


@contextlib.contextmanager
def _model(files: LocalModel, threads: int) -> Iterator[Gemma]:
    gemma = Gemma(
        files.text, files.audio, context_tokens=512, threads=threads, sampling=files.sampling
    )
    try:
        yield gemma
    finally:
        gemma.close()


def _tokens(gemma: Gemma, seed: int) -> list[int]:
    """Random tokens of the vocabulary's second half, as the first tokens are control tokens."""
    size = gemma.vocabulary.size
    rng = np.random.default_rng(seed)
    return [int(token) for token in rng.integers(size // 2, size, BEFORE + READ + 1)]


def _read(gemma: Gemma, threads: int, tokens: list[int], way: str, add: Add) -> dict[str, Array]:
    """Prefill the tokens. Returns the context's state, the logits of the next token, and the tokens
    sampled after it."""
    with _context(gemma, threads) as context:
        if WAYS[way]:
            compute_all_layers(context.context, gemma.model)
        context.decode(tokens[:BEFORE], wanted=False)
        with Stopwatch() as watch:
            for start in range(BEFORE, BEFORE + READ, BATCH):
                context.decode(tokens[start : start + BATCH], wanted=False)
        add(way, s=watch.wall_s, CPU_s=watch.cpu_s, tokens_a_second=READ / watch.wall_s)
        state = np.frombuffer(context.state(), np.uint8)
        context.decode(tokens[-1:], wanted=True)
        logits = context.logits()
        drawn = []
        for _ in range(DRAWN):
            drawn.append(int(context.logits().argmax()))
            context.decode(drawn[-1:], wanted=True)
        return {
            f"keys and values of {context.position - 1 - DRAWN} tokens": state,
            "the next token's weights": logits,
            f"{DRAWN} tokens drawn from there": np.array(drawn),
        }


def _time_tokens(gemma: Gemma, threads: int, tokens: list[int], name: str, add: Add) -> None:
    with _context(gemma, threads) as context:
        context.decode(tokens[:BEFORE], wanted=True)
        with Stopwatch() as watch:
            context.decode(tokens[BEFORE : BEFORE + BATCH], wanted=False)
        add(name, ms_a_token_read=1000 * watch.wall_s / BATCH)
        with Stopwatch() as watch:
            for token in tokens[-DRAWN:]:
                context.decode([token], wanted=True)
        add(name, ms_a_token_drawn=1000 * watch.wall_s / DRAWN)


@contextlib.contextmanager
def _context(gemma: Gemma, threads: int) -> Iterator[LlamaContext]:
    context = LlamaContext()
    context.open(gemma.model, CONTEXT_TOKENS, threads, sequences=1)
    try:
        yield context
    finally:
        context.close()


@contextlib.contextmanager
def neighbour(nice: int | None) -> Iterator[None]:
    if nice is None:
        yield
        return
    command = [sys.executable, "-c", _NEIGHBOUR, str(nice), str(os.getpid())]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()  # printed just before its loop starts
        try:
            yield
        finally:
            child.kill()


def differing(first: Array, second: Array) -> int:
    """The number of bytes in which two arrays differ."""
    if first.nbytes != second.nbytes:
        return max(first.nbytes, second.nbytes)
    return int(np.count_nonzero(first.view(np.uint8) != second.view(np.uint8)))
