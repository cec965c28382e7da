"""Computes figures from trials: shares, latencies, calibration. Pure.

A trial counts for the stop only if the box was audible, and for the verdict in any case. A sound
without a pause has no verdict: that is right for a backchannel or a noise, and wrong for an
interruption.
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
    """A value with its 95 % interval and the number of samples. A share is 0 to 1."""

    value: float
    low: float
    high: float
    n: int


def stops(trials: Iterable[InterruptionTrial], *, speech: bool = True) -> list[InterruptionTrial]:
    """The trials with a measurable stop: the onset is known to the sample, the box was audible."""
    return [t for t in trials if not t.left_out and t.clear and (t.kind != "noise") == speech]


def stop_percentile(trials: Sequence[InterruptionTrial], of: float) -> Figure:
    """A percentile of the stop in ms over all trials; a missed stop counts as infinite."""
    times = sorted(np.inf if t.stop_ms is None else t.stop_ms for t in trials)
    if not times:
        return Figure(np.nan, np.nan, np.nan, 0)
    values = np.array(times)
    finite = np.minimum(values, 1e9)  # interpolation between infinities would give NaN
    low, high = intervals.percentile(finite.tolist(), of)
    return Figure(float(np.percentile(finite, of, method="higher")), low, high, len(times))


def share_within(trials: Sequence[InterruptionTrial], ms: float) -> Figure:
    """The share of trials with a stop within `ms` of the onset."""
    return portion(sum(t.stop_ms is not None and t.stop_ms <= ms for t in trials), len(trials))


def portion(hits: int, of: int) -> Figure:
    return Figure(hits / of if of else np.nan, *intervals.share(hits, of), of)


def hourly_rate(seen: int, seconds: float) -> Figure:
    """The rate of events an hour; `n` is their number."""
    low, high = intervals.count(seen)
    hours = seconds / 3600 or np.nan
    return Figure(seen / hours, low / hours, high / hours, seen)


def outcome(trial: InterruptionTrial) -> str:
    """The first pause's verdict, or "no pause"."""
    return trial.verdict or "no pause"


def at_age(trial: InterruptionTrial, age_ms: int) -> str:
    """The listener's decision at that age: the verdict if there is one by then, else the likeliest
    class of the last opinion; "no pause" before the first opinion."""
    if trial.verdict is not None and trial.age_ms is not None and trial.age_ms <= age_ms:
        return trial.verdict
    opinion = odds_at(trial, age_ms)
    if opinion is None:
        return "no pause"
    return CLASSES[int(np.argmax([opinion[0], opinion[1] + 1e-9, opinion[2]]))]


def odds_at(trial: InterruptionTrial, age_ms: int) -> tuple[float, float, float] | None:
    """The last opinion up to that age: backchannel, interruption, noise."""
    last = None
    for at_ms, *odds in trial.opinions:
        if at_ms <= age_ms:
            last = (odds[0], odds[1], odds[2])
    return last


def right(kind: RecordingKind, held_for: str) -> bool:
    """Whether the box acts rightly: it yields to an interruption and to nothing else."""
    return (held_for == "interruption") == (kind == "interruption")


def accuracy(
    trials: Sequence[InterruptionTrial],
    age_ms: int | None,
    classes: Literal["two", "three"] = "two",
) -> Figure:
    """Balanced accuracy (the mean recall) at an age, or of the final verdict if `age_ms` is None.

    "two": speech only, the recalls of backchannels resumed and of interruptions yielded to.
    "three": the recalls of all three classes; a backchannel or noise without a pause counts as
    right.
    """
    hits = []
    for kind in CLASSES[: 2 if classes == "two" else 3]:
        decisions = [outcome(t) if age_ms is None else at_age(t, age_ms) for t in trials
                     if t.kind == kind]  # fmt: skip
        if classes == "two":
            right_count = sum(right(kind, decision) for decision in decisions)
        else:
            harmless = ("no pause",) if kind != "interruption" else ()
            right_count = sum(decision in (kind, *harmless) for decision in decisions)
        hits.append((right_count, len(decisions)))
    n = sum(of for _, of in hits)
    if not all(of for _, of in hits):
        return Figure(np.nan, 0.0, 1.0, n)
    mean = float(np.mean([right_count / of for right_count, of in hits]))
    return Figure(mean, *intervals.balanced(hits), n)


def confusion(trials: Sequence[InterruptionTrial]) -> dict[str, dict[str, int]]:
    """Counts as class → outcome → number of trials."""
    return {
        kind: {o: sum(t.kind == kind and outcome(t) == o for t in trials) for o in OUTCOMES}
        for kind in CLASSES
    }


def taken_for(
    trials: Sequence[InterruptionTrial], kind: RecordingKind, outcomes: Iterable[str]
) -> Figure:
    """The share of a class whose first verdict is one of `outcomes`."""
    wanted = set(outcomes)
    of_class = [t for t in trials if t.kind == kind]
    return portion(sum(outcome(t) in wanted for t in of_class), len(of_class))


def lost(trials: Iterable[InterruptionTrial], kind: RecordingKind) -> Figure:
    """The share of a class after which the answer was lost in the end, after any pause."""
    of_class = [t for t in trials if t.kind == kind]
    return portion(sum(t.yielded for t in of_class), len(of_class))


def paused_again(trials: Iterable[InterruptionTrial]) -> Figure:
    """The share of the resumes after a backchannel that another pause followed at once."""
    murmurs = [t for t in trials if t.kind == "backchannel"]
    return portion(sum(t.again for t in murmurs), sum(t.resumes for t in murmurs))


def latencies(trials: Iterable[InterruptionTrial]) -> list[float]:
    """The ages of the verdicts: ms from the listener's onset to its verdict."""
    return [float(t.age_ms) for t in trials if t.age_ms is not None]


@dataclass(frozen=True)
class ReliabilityBin:
    """One bin of opinions: mean stated probability of an interruption, and its real frequency."""

    said: float
    found: float
    n: int


def reliability(
    trials: Sequence[InterruptionTrial], age_ms: int = 300
) -> tuple[list[ReliabilityBin], float]:
    """The calibration of the opinions at that age for interruptions, in bins, and the expected
    calibration error (Naeini et al. 2015, over 10 bins)."""
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
    interruptions resumed, and of backchannels yielded to. A trial without an opinion counts as
    resumed."""
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
