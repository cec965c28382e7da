"""Metrics of class probabilities: balanced accuracy with intervals, temperature, calibration.

In: probabilities (N, ages, 3), classes, speakers. Out: figures. No torch here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.int_]


def recalls(guess: Ints, kind: Ints, classes: int = 3) -> list[float]:
    """The recall of each class; nan for a class without examples."""
    return [float(np.mean(guess[kind == c] == c)) if (kind == c).any() else float("nan")
            for c in range(classes)]  # fmt: skip


def balanced(guess: Ints, kind: Ints) -> float:
    """Balanced accuracy over the classes that have examples."""
    return float(np.nanmean(recalls(guess, kind)))


def interval(
    guess: Ints, kind: Ints, speakers: Sequence[str], seed: int = 0
) -> tuple[float, float]:
    """95 % interval of balanced accuracy, by a bootstrap over speakers (500 draws)."""
    chance = np.random.default_rng(seed)
    names = sorted(set(speakers))
    rows = {n: np.flatnonzero(np.array(speakers) == n) for n in names}
    drawn = []
    for _ in range(500):
        who = chance.choice(len(names), len(names))
        which = np.concatenate([rows[names[w]] for w in who])
        drawn.append(balanced(guess[which], kind[which]))
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return float(low), float(high)


def temperature(log_odds: Floats, kind: Ints) -> float:
    """The temperature by which log odds (N, 3) must be divided to be calibrated."""

    def loss(t: float) -> float:
        x = log_odds / t
        x = x - x.max(axis=1, keepdims=True)
        x = x - np.log(np.exp(x).sum(axis=1, keepdims=True))
        return float(-np.mean(x[np.arange(len(kind)), kind]))

    steps = np.geomspace(0.4, 4, 60)
    return float(steps[int(np.argmin([loss(float(t)) for t in steps]))])


def calibration_error(odds: Floats, kind: Ints, bins: int = 12) -> float:
    """Expected calibration error of the likeliest class (Guo et al. 2017)."""
    sure, right = odds.max(axis=1), odds.argmax(axis=1) == kind
    which = np.minimum((sure * bins).astype(int), bins - 1)
    return float(sum(
        np.mean(which == b) * abs(np.mean(sure[which == b]) - np.mean(right[which == b]))
        for b in range(bins) if (which == b).any()
    ))  # fmt: skip


def softmax(log_odds: Floats) -> Floats:
    x = np.exp(log_odds - log_odds.max(axis=-1, keepdims=True))
    out: Floats = x / x.sum(axis=-1, keepdims=True)
    return out
