"""Makes the tables of `bench answer` for a model of full size, with a column for each recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab.bench.answer_texts import tokens_to_say
from lab.bench.benches import SPREAD, FigureTable, spread

Event = dict[str, Any]
PARTS = (
    ("last sample → first sound", "all_ms"),
    ("end-of-turn wait", "turn_end_ms"),
    ("what was under way", "waited_ms"),
    ("encoding left", "encode_ms"),
    ("reading left", "prefill_ms"),
    ("tokens to the first clause", "first_sentence_ms"),
    ("voice", "synthesis_ms"),
    ("messages, ring, card", "rest_ms"),
)
ENOUGH = 60  # events that a 95th percentile needs


def completed(events: Sequence[Event]) -> list[Event]:
    """The events that were answered, and whose question was not cut off in a pause."""
    return [e for e in events if e.get("rest_ms") is not None and not e["cut_off"]]


def values(events: Sequence[Event], key: str) -> list[float]:
    return [e[key] for e in completed(events)]


def comparison(events: Mapping[str, Sequence[Event]]) -> FigureTable:
    """p50 of each part by recipe; of the total also p95, if there are `ENOUGH` events."""
    columns = ("ms, p50", *events)
    sheet = FigureTable("A model of full size: recipes beside each other", columns)
    for title, key in PARTS:
        found = [values(events[name], key) for name in events]
        sheet.rows.append((title, *(_p(some, 50) for some in found)))
        if key == "all_ms":
            p95 = [_p(some, 95) if len(some) >= ENOUGH else "–" for some in found]
            sheet.rows.append(("the same, p95", *p95))
    sheet.rows.append(("n", *(len(completed(events[name])) for name in events)))
    for name in events:
        some = completed(events[name])
        cut, none = (sum(bool(e.get("cut_off")) for e in events[name]),
                     sum(e["all_ms"] is None for e in events[name]))  # fmt: skip
        ahead = sum(bool(e["drawn_ahead"]) for e in some)
        thrown = sum(e["thrown_away"] for e in some)
        sheet.notes.append(
            f"{name}: {cut} questions cut off in a pause of the speaker and {none} without an "
            f"answer, which are in no figure; {ahead} of {len(some)} answers started before the "
            f"turn was over, {thrown} tokens thrown away; "
            f"{_p([e['read'] for e in some], 50)} tokens prefilled after the end of the turn."
        )
    sheet.notes.append(
        "What was under way: the wait until the model has finished its work in progress when the "
        "turn is over."
    )
    sheet.events += [e | {"recipe": name} for name, some in events.items() for e in some]
    return sheet


def recipe_table(name: str, events: Sequence[Event]) -> FigureTable:
    """The spread of each part for one recipe."""
    sheet = FigureTable(f"{name}, ms", ("", *SPREAD))
    for title, key in PARTS:
        sheet.rows.append((title, *spread(values(events, key), 0)))
    sheet.rows.append(("from the decision", *spread(values(events, "from_decision_ms"), 0)))
    rates = [rate for rate in values(events, "tokens_per_s") if rate > 0]
    sheet.rows.append(("tokens a second", *spread(rates, 2)))
    sheet.rows.append(("tokens of the first clause", *spread(clause_tokens(events), 0)))
    sheet.rows.append(("resident MiB, all processes", *spread(values(events, "resident_mib"), 0)))
    return sheet


def clause_tokens(events: Sequence[Event]) -> list[float]:
    return [float(tokens_to_say(e["said"][0])) for e in completed(events) if e["said"]]


def soak_table(
    events: Sequence[Event],
    seconds: float,
    dropouts: Mapping[str, int],
    excused: int,
    stalls: Sequence[tuple[int, int]],
    memory_mib: float,
) -> FigureTable:
    """The table of the soak test. `excused`: dropouts during stalls of the machine itself;
    `stalls`: their times and lengths in ns (stalls.py)."""
    sheet = FigureTable("Questions without a pause, read ahead and answered", ("", "found"))
    answered = [e for e in events if e["all_ms"] is not None]
    sheet.rows += [
        ("minutes", round(seconds / 60, 1)),
        ("questions", len(events)),
        ("of these answered", len(answered)),
        ("tokens drawn ahead, thrown away",
         f"{sum(e.get('drawn_ahead', 0) for e in answered)}, "
         f"{sum(e.get('thrown_away', 0) for e in answered)}"),
        *((f"dropouts of {name}", count) for name, count in dropouts.items()),
        ("of these while the machine itself stood still", excused),
        ("the machine stood still: times", len(stalls)),
        ("longest, ms", round(max((late for _, late in stalls), default=0) / 1e6, 1)),
        ("resident MiB at the end", round(memory_mib)),
    ]  # fmt: skip
    sheet.events += events
    return sheet


def _p(some: Sequence[float], percent: float) -> str | float:
    return round(float(np.percentile(some, percent))) if some else "–"
