"""From trials to figures: what share, how late, how sure. Pure.

A trial counts for the stop if the box was audible, and for the verdict in any case. A sound at
which the box did not pause has no verdict: for a backchannel and a noise that is right, for an
interruption it is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from appliance.hear.bargein.recordings import RecordingKind
from lab.bench import intervals
from lab.bench.interruption_trials import InterruptionTrial

CLASSES: tuple[RecordingKind, ...] = ("backchannel", "interruption", "noise")
OUTCOMES = (*CLASSES, "no pause")
AGES_MS = tuple(range(100, 701, 40))
BINS = 10


@dataclass(frozen=True)
class Figure:
    """A number with its 95 % interval and of how many it is. A share is 0 to 1."""

    value: float
    low: float
    high: float
    n: int


def stops(trials: Iterable[InterruptionTrial], *, speech: bool = True) -> list[InterruptionTrial]:
    """The trials whose stop can be told: their onset is known to the sample, the box sounded."""
    return [t for t in trials if not t.left_out and t.clear and (t.kind != "noise") == speech]


def late(trials: Sequence[InterruptionTrial], of: float) -> Figure:
    """A percentile of the stop in ms, over all; one that was missed came infinitely late."""
    times = sorted(np.inf if t.stop_ms is None else t.stop_ms for t in trials)
    if not times:
        return Figure(np.nan, np.nan, np.nan, 0)
    known = np.array(times)
    finite = np.minimum(known, 1e9)  # interpolation between infinities gives none
    low, high = intervals.percentile(finite.tolist(), of)
    return Figure(float(np.percentile(finite, of, method="higher")), low, high, len(times))


def within(trials: Sequence[InterruptionTrial], ms: float) -> Figure:
    """The share that was stopped within so long of its onset."""
    return portion(sum(t.stop_ms is not None and t.stop_ms <= ms for t in trials), len(trials))


def portion(hits: int, of: int) -> Figure:
    return Figure(hits / of if of else np.nan, *intervals.share(hits, of), of)


def an_hour(seen: int, seconds: float) -> Figure:
    """How often an hour; `n` is how often it was seen."""
    low, high = intervals.count(seen)
    hours = seconds / 3600 or np.nan
    return Figure(seen / hours, low / hours, high / hours, seen)


def outcome(trial: InterruptionTrial) -> str:
    """The first pause's verdict, or "no pause"."""
    return trial.verdict or "no pause"


def at_age(trial: InterruptionTrial, age_ms: int) -> str:
    """What the listener held it for at that age: its verdict if it had come, else the likeliest of
    its last opinion; "no pause" before there is any."""
    if trial.verdict is not None and trial.age_ms is not None and trial.age_ms <= age_ms:
        return trial.verdict
    odds = odds_at(trial, age_ms)
    if odds is None:
        return "no pause"
    return CLASSES[int(np.argmax([odds[0], odds[1] + 1e-9, odds[2]]))]


def odds_at(trial: InterruptionTrial, age_ms: int) -> tuple[float, float, float] | None:
    """The last opinion up to that age: backchannel, interruption, noise."""
    last = None
    for at_ms, *odds in trial.opinions:
        if at_ms <= age_ms:
            last = (odds[0], odds[1], odds[2])
    return last


def right(kind: RecordingKind, held_for: str) -> bool:
    """Whether the box would do the right thing: it goes on, or it does not."""
    return (held_for == "interruption") == (kind == "interruption")


def accuracy(
    trials: Sequence[InterruptionTrial],
    age_ms: int | None,
    classes: Literal["two", "three"] = "two",
) -> Figure:
    """The mean of the recalls, at an age, or of the final verdict.

    "two": of backchannels that are resumed and interruptions that are yielded to, speech alone.
    "three": of all three classes, each by its own name; what never paused a box need not.
    """
    hits = []
    for kind in CLASSES[: 2 if classes == "two" else 3]:
        held = [outcome(t) if age_ms is None else at_age(t, age_ms) for t in trials
                if t.kind == kind]  # fmt: skip
        if classes == "two":
            good = sum(right(kind, h) for h in held)
        else:
            harmless = ("no pause",) if kind != "interruption" else ()
            good = sum(h in (kind, *harmless) for h in held)
        hits.append((good, len(held)))
    n = sum(of for _, of in hits)
    if not all(of for _, of in hits):
        return Figure(np.nan, 0.0, 1.0, n)
    mean = float(np.mean([good / of for good, of in hits]))
    return Figure(mean, *intervals.balanced(hits), n)


def confusion(trials: Sequence[InterruptionTrial]) -> dict[str, dict[str, int]]:
    """class → outcome → how many."""
    return {
        kind: {o: sum(t.kind == kind and outcome(t) == o for t in trials) for o in OUTCOMES}
        for kind in CLASSES
    }


def taken_for(
    trials: Sequence[InterruptionTrial], kind: RecordingKind, outcomes: Iterable[str]
) -> Figure:
    """The share of a class whose first verdict was one of these."""
    wanted = set(outcomes)
    mine = [t for t in trials if t.kind == kind]
    return portion(sum(outcome(t) in wanted for t in mine), len(mine))


def latencies(trials: Iterable[InterruptionTrial]) -> list[float]:
    """ms from the listener's onset to its verdict."""
    return [float(t.age_ms) for t in trials if t.age_ms is not None]


@dataclass(frozen=True)
class ReliabilityBin:
    """Opinions that were about so sure of an interruption, and how often it was one."""

    said: float
    found: float
    n: int


def reliability(
    trials: Sequence[InterruptionTrial], age_ms: int = 300
) -> tuple[list[ReliabilityBin], float]:
    """Of opinions at that age: what they said of an interruption against what was; and the
    expected calibration error (Naeini et al. 2015, over 10 bins)."""
    pairs = [(odds[1], t.kind == "interruption") for t in trials
             if (odds := odds_at(t, age_ms)) is not None]  # fmt: skip
    if not pairs:
        return [], np.nan
    said = np.array([p for p, _ in pairs])
    true = np.array([k for _, k in pairs], float)
    bins, error = [], 0.0
    for low, high in pairwise(np.linspace(0, 1, BINS + 1)):
        inside = (said >= low) & ((said < high) | (high == 1))
        if inside.any():
            found = ReliabilityBin(
                float(said[inside].mean()), float(true[inside].mean()), int(inside.sum())
            )
            bins.append(found)
            error += found.n / len(pairs) * abs(found.said - found.found)
    return bins, error


def trade_off(trials: Sequence[InterruptionTrial], age_ms: int) -> list[tuple[float, float]]:
    """For every threshold on the probability of an interruption at that age: the share of
    interruptions resumed, and of backchannels yielded to. One that never paused is resumed."""
    scores = {
        kind: np.array([-1.0 if (odds := odds_at(t, age_ms)) is None else odds[1]
                        for t in trials if t.kind == kind])
        for kind in CLASSES[:2]
    }  # fmt: skip
    if not all(len(s) for s in scores.values()):
        return []
    thresholds = np.unique(np.concatenate([*scores.values(), [0.0, 1.01]]))
    return [
        (float(np.mean(scores["interruption"] < t)), float(np.mean(scores["backchannel"] >= t)))
        for t in thresholds
    ]
