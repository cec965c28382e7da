"""Compares the measured times of a model of full size on two x86 cores with their goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab.bench.answer_tables import clause_tokens, completed, values
from lab.bench.benches import FigureTable

BESIDES_DRAWING_MS = 500.0  # from last sample to first sound, without sampling the first clause
ARTICLE_SHARE = 0.25
FROM_DECISION_MS = 400.0  # if the first clause was sampled ahead
RESIDENT_MIB = 3.5 * 1024


def goals(events: Mapping[str, Sequence[dict[str, Any]]]) -> FigureTable:
    """The table of goals; a row needs measurements of all recipes that it compares."""
    sheet = FigureTable("Goals", ("", "goal", "measured, p50", "n"))
    events_of_this = events.get("this", ())
    if not completed(events_of_this):
        return sheet
    all_ms = _p50(values(events_of_this, "all_ms"))
    rate = _p50([rate for rate in values(events_of_this, "tokens_per_s") if rate > 0])
    tokens = _p50(clause_tokens(events_of_this))
    if rate:
        goal = BESIDES_DRAWING_MS + 1000 * tokens / rate
        name = f"last sample → first sound; {tokens:g} tokens at {rate:.1f} a second, ms"
        sheet.rows.append((name, round(goal), round(all_ms), len(completed(events_of_this))))
        without_sampling = [
            besides_drawing_ms(event) for event in completed(events_of_this) if event["said"]
        ]
        name = "the same but for the tokens of its own first clause, by question, ms"
        sheet.rows.append(
            (name, round(BESIDES_DRAWING_MS), round(_p50(without_sampling)), len(without_sampling))
        )
    article = values(events.get("article", ()), "all_ms")
    if article:
        share = all_ms / _p50(article)
        name = "the same, beside the article's recipe"
        sheet.rows.append((name, ARTICLE_SHARE, round(share, 2), len(article)))
    from_decision = [e["from_decision_ms"] for e in completed(events_of_this) if clause_ahead(e)]
    name = "from the decision, the clause drawn ahead, ms"
    sheet.rows.append(
        (
            name,
            round(FROM_DECISION_MS),
            round(_p50(from_decision)) if from_decision else "–",
            len(from_decision),
        )
    )
    resident = max(values(events_of_this, "resident_mib"))
    name = "resident memory of all processes, most, MiB"
    sheet.rows.append((name, round(RESIDENT_MIB), round(resident), len(completed(events_of_this))))
    return sheet


def besides_drawing_ms(event: dict[str, Any]) -> float:
    """ms to an answer's first sound without the sampling time of its own first clause. A median
    over clause lengths, which are whole tokens, would jump by a token; this does not."""
    return float(event["all_ms"] - 1000 * clause_tokens([event])[0] / event["tokens_per_s"])


def clause_ahead(event: dict[str, Any]) -> bool:
    """Whether the first clause was sampled completely before the turn was over."""
    return bool(event["drawn_ahead"] >= clause_tokens([event])[0]) if event["said"] else False


def _p50(some: Sequence[float]) -> float:
    return float(np.median(some)) if some else 0.0
