"""Compares the same sounds with and without the page, for the cost of the page. Pure.

In: a value for each sound, by its block and number, which are the same in each condition. Out: the
ratio of a percentile with its 95 % interval by the bootstrap over pairs, and the sign test.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lab.bench.benches import SPREAD, FigureTable, spread
from lab.bench.intervals import Interval, count

RESAMPLES = 2000
Place = tuple[int, int]  # block, number of the sound in it


@dataclass
class PageCondition:
    """The measurements of one condition, over all of its blocks.

    `stops_ms`, `heard_ms`: by the sound's place; onset → last audible sample, and deciding sample →
    message at the conductor. `lost`, `repeated`: samples over the `seams` resumed pauses.
    `dropouts`: by direction. `seconds`: duration of the blocks. `cpu_s`, `most_mib`: CPU time and
    largest PSS of the page's process. `visits`: the clients' counts.
    """

    name: str
    stops_ms: dict[Place, float] = field(default_factory=dict)
    heard_ms: dict[Place, float] = field(default_factory=dict)
    missed: int = 0
    left_out: int = 0
    seams: int = 0
    lost: int = 0
    repeated: int = 0
    dropouts: dict[str, int] = field(default_factory=lambda: {"capture": 0, "playback": 0})
    seconds: float = 0.0
    cpu_s: float = 0.0
    most_mib: float = 0.0
    restarts: int = 0
    visits: dict[str, int] = field(default_factory=dict)


def pairs(
    base: Mapping[Place, float], other: Mapping[Place, float]
) -> tuple[list[float], list[float]]:
    """The values of the sounds that were measured in both conditions."""
    both = sorted(base.keys() & other.keys())
    return [base[place] for place in both], [other[place] for place in both]


def ratio(
    base: Sequence[float], other: Sequence[float], of: float, seed: int = 1
) -> tuple[float, Interval]:
    """The ratio of a percentile, and its interval by the bootstrap over pairs."""
    if len(base) < 2:
        return math.nan, (math.nan, math.nan)
    both = np.array([base, other])
    places = np.random.default_rng(seed).integers(0, both.shape[1], (RESAMPLES, both.shape[1]))
    drawn = np.percentile(both[:, places], of, axis=2)
    low, high = np.percentile(drawn[1] / drawn[0], [2.5, 97.5])
    first, second = np.percentile(both, of, axis=1)
    return float(second / first), (float(low), float(high))


def sign_test(base: Sequence[float], other: Sequence[float]) -> float:
    """The p-value of the sign test (two-sided, exact): the probability by chance of a split of the
    pairs that is at least as uneven."""
    both = list(zip(base, other, strict=True))
    more = sum(bool(second > first) for first, second in both)
    less = sum(bool(second < first) for first, second in both)
    total = more + less
    tail = sum(math.comb(total, n) for n in range(min(more, less) + 1)) / 2**total
    return float(min(1.0, 2 * tail))


def tables(conditions: Sequence[PageCondition]) -> list[FigureTable]:
    """The tables; the first condition is the baseline of the ratios."""
    return [
        _spreads("Stop: true onset → last audible sample, ms", conditions, "stops_ms"),
        _spreads(
            "Heard: the sample that decided → the conductor knows, ms", conditions, "heard_ms"
        ),
        _ratios(conditions),
        _counts(conditions),
    ]


def _values(condition: PageCondition, name: str) -> dict[Place, float]:
    found: dict[Place, float] = getattr(condition, name)
    return found


def _spreads(title: str, conditions: Sequence[PageCondition], name: str) -> FigureTable:
    sheet = FigureTable(title, ("", *SPREAD))
    for condition in conditions:
        sheet.rows.append((condition.name, *spread(list(_values(condition, name).values()))))
        sheet.events += [
            {"condition": condition.name, "block": block, "number": number, "ms": value}
            for (block, number), value in _values(condition, name).items()
        ]
    return sheet


def _ratios(conditions: Sequence[PageCondition]) -> FigureTable:
    base, *others = conditions
    sheet = FigureTable(
        f"Against “{base.name}”, the same sounds: ratio [95 %]",
        ("", "", "p50", "p95", "sign test p", "pairs"),
        names=2,
    )
    for name, title in (("stops_ms", "stop"), ("heard_ms", "heard")):
        for condition in others:
            first, second = pairs(_values(base, name), _values(condition, name))
            p50, p95 = (ratio(first, second, of) for of in (50, 95))
            sheet.rows.append(
                (
                    title,
                    condition.name,
                    _with_interval(*p50),
                    _with_interval(*p95),
                    round(sign_test(first, second), 3),
                    len(first),
                )
            )
    return sheet


def _with_interval(value: float, interval: Interval) -> str:
    return f"{value:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"


def _counts(conditions: Sequence[PageCondition]) -> FigureTable:
    sheet = FigureTable(
        "Counts, and the page's process",
        ("", "min", "missed", "left out", "pauses taken back", "lost", "repeated",
         "dropouts of capture", "of playback", "% of a core", "MiB (PSS)", "restarts"),
    )  # fmt: skip
    for condition in conditions:
        runs = bool(condition.most_mib)
        minutes = condition.seconds / 60
        sheet.rows.append(
            (
                condition.name,
                round(minutes, 1),
                condition.missed,
                condition.left_out,
                condition.seams,
                condition.lost,
                condition.repeated,
                *(_rate(condition.dropouts[direction]) for direction in ("capture", "playback")),
                round(100 * condition.cpu_s / condition.seconds, 2) if runs else "–",
                round(condition.most_mib, 1) if runs else "–",
                condition.restarts if runs else "–",
            )
        )
        if condition.visits:
            visits = ", ".join(f"{name}: {number}" for name, number in condition.visits.items())
            sheet.notes.append(f"{condition.name}: {visits}.")
    sheet.notes.append("Dropouts with the 95 % interval of a Poisson count.")
    return sheet


def _rate(seen: int) -> str:
    low, high = count(seen)
    return f"{seen} [{low:.1f}, {high:.1f}]"
