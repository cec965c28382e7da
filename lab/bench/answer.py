"""`interlude bench answer`: time from the owner's last sample to the answer's first audible one.

The model is that of the settings, by default the pocket model in the package. With `--weights` it
is a model of full size with synthetic weights (answer_full.py).
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from appliance.models.store import resolve
from appliance.runtime import process_table
from lab.bench import answer_full
from lab.bench.answer_events import ask, synthetic
from lab.bench.benches import SPREAD, BenchOptions, FigureTable, spread
from lab.bench.harness import QUIET, BenchHarness

EVENTS = 60
REQUESTS = (
    "tell me about the moon", "tell me about the sea", "how is bread made", "tell me a story",
    "why is the sky blue", "what is two plus two", "hello", "how are you", "who are you",
    "what is the capital of france", "how do i make coffee", "how far is the moon",
)  # fmt: skip
PARTS = (
    ("all", "all_ms"),
    ("end of turn", "turn_end_ms"),
    ("what was under way", "waited_ms"),
    ("encoding the sound", "encode_ms"),
    ("prefill", "prefill_ms"),
    ("to the first sentence", "first_sentence_ms"),
    ("synthesis", "synthesis_ms"),
    ("messages, ring and card", "rest_ms"),
)


def bench(options: BenchOptions) -> list[FigureTable]:
    """Ask `events` questions. Raises ModelError if the model is missing, BenchError for an unknown
    part."""
    if options.weights is not None:
        return answer_full.bench(options)
    if not options.settings.thinking.remote.url:
        resolve(options.settings)
    events: list[dict[str, Any]] = []
    rng = random.Random(options.seed)  # noqa: S311 -- chance, not secrecy
    asked = synthetic(REQUESTS, rng)

    def act(stage: BenchHarness) -> None:
        for _ in range(options.events or EVENTS):
            events.append(ask(stage, next(asked)))
            stage.wait_until(stage.settled, 3.0)
            stage.wait(0.8)

    parts = tuple(row.name for row in process_table.PROCESSES)
    BenchHarness(QUIET, options.settings, act, parts=parts).play()
    return [_sheet(events)]


def _sheet(events: list[dict[str, Any]]) -> FigureTable:
    sheet = FigureTable(
        "Answer: the owner's last sample → the first audible one, ms", ("", *SPREAD)
    )
    for title, key in PARTS:
        values = [e[key] for e in events if e.get(key) is not None]
        sheet.rows.append((title, *spread(values, 0)))
    silent = sum(e["all_ms"] is None for e in events)
    sheet.notes.append(
        f"{len(events)} questions, {silent} without an answer. The end of turn includes the "
        "silence that the settings require (hearing.turn)."
    )
    begun = [e["drawn_ahead"] for e in events if "drawn_ahead" in e]
    tokens = np.median(begun) if begun else 0
    sheet.notes.append(
        f"{sum(map(bool, begun))} of {len(begun)} answers were begun before the turn was over, "
        f"with {tokens:g} tokens (median); {sum(e.get('thrown_away', 0) for e in events)} tokens "
        "were thrown away."
    )
    sheet.events += events
    return sheet
