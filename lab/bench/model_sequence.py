"""Measures the cost of a second sequence: memory, and time of prefill and sampling in the first."""

from __future__ import annotations

import time
from typing import Protocol

from appliance.errors import ModelError
from appliance.models.local_model import LocalModel
from appliance.settings import Settings
from appliance.think import prompt
from appliance.think.context import BATCH, LlamaContext
from appliance.think.gemma import Gemma
from appliance.think.template_check import PromptStyle
from appliance.tools.table import available
from lab.bench.model_memory import Memory

DRAWN = 32  # tokens, one after the other
NAMES = {1: "context of one sequence", 2: "context of two, the other holds the opening"}


class Add(Protocol):
    def __call__(self, name: str, **values: float) -> None: ...


def sequences(files: LocalModel, settings: Settings, threads: int, repeats: int, add: Add) -> None:
    """Measure new contexts of one and of two sequences in turns. Raises ModelError."""
    thinking = settings.thinking
    tokens = min(thinking.context_tokens, files.context_tokens)
    gemma = Gemma(
        files.text, files.audio, context_tokens=512, threads=threads, sampling=files.sampling
    )
    try:
        opening = _opening(gemma, PromptStyle.of(files, thinking, available(settings)))
        # A state can only be restored into a context with the same number of sequences.
        states = {count: _state(gemma, count, tokens, threads, opening) for count in NAMES}
        for _ in range(repeats):
            for count, state in states.items():
                _measure(gemma, count, tokens, threads, opening, state, add)
    finally:
        gemma.close()


def _opening(gemma: Gemma, style: PromptStyle) -> list[int]:
    """The tokens of the opening."""
    tokens: list[int] = []
    for part in prompt.opening(style.persona, style.tools):
        assert isinstance(part, prompt.ControlText | prompt.PlainText)
        tokens += gemma.tokenize(part.text, marks=isinstance(part, prompt.ControlText))
    return tokens


def _state(gemma: Gemma, count: int, tokens: int, threads: int, opening: list[int]) -> bytes:
    context = LlamaContext()
    context.open(gemma.model, tokens, threads, sequences=count)
    try:
        context.evaluate(opening)
        return context.state()
    finally:
        context.close()


def _measure(
    gemma: Gemma,
    count: int,
    tokens: int,
    threads: int,
    opening: list[int],
    state: bytes,
    add: Add,
) -> None:
    context, name = LlamaContext(), NAMES[count]
    before = Memory.now()
    began_s = time.monotonic()
    context.open(gemma.model, tokens, threads, sequences=count)
    opened_s = time.monotonic() - began_s
    try:
        add(name, MiB=Memory.now().resident - before.resident, ms_to_open=1000 * opened_s)
        _restore(context, state, opening)
        if count == 2:
            context.select_sequence(1)
            began_s = time.monotonic()
            _restore(context, state, opening)
            add("the opening put into the other", ms=1000 * (time.monotonic() - began_s))
            context.select_sequence(0)
        began_s = time.monotonic()
        context.evaluate((opening * BATCH)[:BATCH])
        add(name, ms_for_128_tokens_read=1000 * (time.monotonic() - began_s))
        began_s = time.monotonic()
        for token in (opening * DRAWN)[:DRAWN]:
            context.evaluate([token], last=True)
        add(name, ms_a_token_drawn=1000 * (time.monotonic() - began_s) / DRAWN)
    finally:
        context.close()


def _restore(context: LlamaContext, state: bytes, opening: list[int]) -> None:
    """Restore the opening's state. Raises ModelError if the context refuses it."""
    if not context.restore(state, len(opening)):
        raise ModelError("A context of the same kind refuses the opening's saved state.")
