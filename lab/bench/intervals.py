"""Computes 95 % confidence intervals of a share, a rate, a percentile, a mean recall. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

Z = 1.959964  # the normal distribution's 97.5 % quantile
RESAMPLES = 400
DRAWS = 1_000  # of groups
_STEPS = 60  # of bisection: more than a float has bits

Interval = tuple[float, float]


def share(hits: int, of: int) -> Interval:
    """Wilson's interval of a proportion (1927); 0 to 1 without observations."""
    if not of:
        return (0.0, 1.0)
    p, z2 = hits / of, Z * Z
    middle = (p + z2 / (2 * of)) / (1 + z2 / of)
    half = Z / (1 + z2 / of) * math.sqrt(p * (1 - p) / of + z2 / (4 * of * of))
    low = 0.0 if hits == 0 else middle - half
    high = 1.0 if hits == of else middle + half
    return (low, high)


def count(seen: int) -> Interval:
    """The exact interval of a Poisson mean after `seen` events (Garwood 1936)."""
    low = 0.0 if seen == 0 else _root(lambda mean: 1 - _poisson(seen - 1, mean), 0.025, seen)
    return (low, _root(lambda mean: 1 - _poisson(seen, mean), 0.975, 5 * seen + 10))


def percentile(values: Sequence[float], of: float, seed: int = 1) -> Interval:
    """The bootstrap interval of a percentile."""
    if len(values) < 2:
        return (values[0], values[0]) if values else (math.nan, math.nan)
    known = np.asarray(values)
    places = np.random.default_rng(seed).integers(0, len(known), (RESAMPLES, len(known)))
    low, high = np.percentile(np.percentile(known[places], of, axis=1), [2.5, 97.5])
    return (float(low), float(high))


def balanced(hits: Sequence[tuple[int, int]]) -> Interval:
    """The normal interval of a mean of recalls, each (right, of). For the variance half a right and
    half a wrong case are added to each class, so that a recall of 0 or 1 has some variance."""
    variance = 0.0
    for right, of in hits:
        if not of:
            return (0.0, 1.0)
        p = (right + 0.5) / (of + 1)
        variance += p * (1 - p) / of
    mean = sum(right / of for right, of in hits) / len(hits)
    half = Z * math.sqrt(variance) / len(hits)
    return (max(0.0, mean - half), min(1.0, mean + half))


def over_groups(hits: Sequence[float], groups: Sequence[str]) -> Interval:
    """The bootstrap interval of the mean of `hits`, by drawing their groups with replacement, such
    as people: sounds of one person are alike. 0 to 1 without observations."""
    if not len(hits):
        return (0.0, 1.0)
    chance = np.random.default_rng(0)
    _, which = np.unique(groups, return_inverse=True)
    sums, counts = np.bincount(which, hits), np.bincount(which)
    drawn = chance.integers(len(counts), size=(DRAWS, len(counts)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return (float(low), float(high))


def _poisson(most: int, mean: float) -> float:
    """The probability of at most `most` events."""
    term = total = math.exp(-mean)
    for n in range(1, most + 1):
        term *= mean / n
        total += term
    return total


def _root(rising: Callable[[float], float], wanted: float, high: float) -> float:
    """The argument between 0 and `high` at which a rising function has the value `wanted`."""

    low = 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < wanted else (low, middle)
    return (low + high) / 2
