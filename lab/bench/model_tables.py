"""Makes the tables of `interlude bench model`. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from appliance.runtime.process_table import row
from lab.bench.benches import FigureTable
from lab.bench.model_parts import Measure

COLUMNS = ("", "in", "n", "p50", "p95", "each")
ENOUGH = 60  # values for percentiles; fewer values are listed one by one
TITLES = {
    "memory": "Resident memory of the model's process",
    "opening": "The opening, persona and tools: read, and taken back from the disk",
    "reading": "Tokens read in batches of 128: all layers, or those that write keys and values",
    "drawing": "Tokens drawn, 512 before them: by llama.cpp's own bench, and as an answer",
    "threads": "Threads, and a neighbour that computes without a pause",
    "attention": "Batches of a question behind so many tokens, with flash attention and without",
    "batches": "Small batches behind 1,500 tokens, by their size",
    "sequence": "A second sequence",
    "abort": "An encoding that is ended: from the order until the model is free",
    "encoder": "The audio encoder, on one thread: streaming, and llama.cpp's",
    "transcripts": "A transcript, while nobody waits",
    "recall": "Turns from memory, read at a start",
    "taps": "Hidden states of the tokens that are drawn, for a speech head",
}
WITHOUT_WEIGHTS = "without weights MiB"


def sheet(part: str, measures: Sequence[Measure]) -> FigureTable:
    """The table of one part; that of `memory` has a note about the thinker's budget."""
    table = FigureTable(TITLES[part], COLUMNS, names=2)
    table.rows = [(measure.name, measure.of, *_figures(measure.values)) for measure in measures]
    table.events = [
        {"name": measure.name, "in": measure.of, "values": measure.values} for measure in measures
    ]
    if part == "memory":
        table.notes.append(_budget(measures))
    return table


def _figures(values: Sequence[float]) -> tuple[str | float, ...]:
    """n, p50, p95, and the maximum; or n and each value if there are few."""
    if len(values) < ENOUGH:
        return len(values), "–", "–", ", ".join(_short(value) for value in values)
    p50, p95 = np.percentile(values, [50, 95])
    return len(values), _short(p50), _short(p95), f"most {_short(max(values))}"


def _short(value: float) -> str:
    """The value with three significant digits, but with all digits before the point."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _budget(measures: Sequence[Measure]) -> str:
    budget = row("thinker").memory_mib
    most = max((max(m.values) for m in measures if m.of == WITHOUT_WEIGHTS), default=0.0)
    verdict = "within" if most <= budget else "OVER"
    return (
        f"Without the weights {most:.0f} MiB at most: {verdict} the thinker's budget of "
        f"{budget} MiB. Weights: memory allocated by loading them, and the file's resident pages."
    )
