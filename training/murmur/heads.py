"""Trains heads on features and scores bursts with them; the threshold is fixed on tuning's calls.

In: a set of bursts with features. Out: `graph.Head`; scores, log P(murmur) − log P(call) and
log P(noise) − log P(voice); thresholds for each moment at which the box asks.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from appliance.hear.bargein.murmur_network import WHOLE
from training.murmur import graph
from training.murmur.features import MOMENTS, asked_ms, bursts_of, heard_ms
from training.murmur.graph import Head
from training.murmur.mixture import Origin
from training.verdict.dataset import Bursts

KINDS = ("backchannel", "interruption", "noise")
SHARES = (1.0, 1.0, 0.4)  # of the classes in training
HIDDEN, EPOCHS, RATE, PENALTY, BATCH = 64, 12, 1e-3, 4.0, 128
SEEDS = (0, 1, 2)
FACTOR = 2  # examples drawn, times those there are
# Of tuning's calls, so many are resumed over. Few kinds of them end before the verdict, so for
# whole sounds the share is smaller.
RESUMED = {moment: 0.015 if moment == WHOLE else 0.02 for moment in MOMENTS}

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Set:
    """Bursts of one set with their labels (N,) and features (`features.features`).

    heard  for each moment, whether a burst was heard to the end of its window
    """

    bursts: Bursts
    kind: npt.NDArray[np.int_]
    source: npt.NDArray[np.str_]
    word: npt.NDArray[np.str_]
    group: npt.NDArray[np.str_]
    recording: npt.NDArray[np.str_]
    narrow: Bools
    heard: dict[str, Bools]
    features: dict[str, npt.NDArray[np.float16]]

    @classmethod
    def load(cls, cache: Path, name: str) -> Set:
        """A set of `CACHE`. Raises FileNotFoundError if it was not rendered."""
        bursts = bursts_of(cache, name)
        about = bursts.about
        origin = [Origin.of(each["who"]) for each in about]
        with np.load(cache / f"features-{name}.npz") as file:
            features = {key: file[key] for key in file.files}
        return cls(
            bursts,
            np.array([KINDS.index(each["kind"]) for each in about]),
            np.array([each["origin"] for each in about]),
            np.array([each["word"] for each in about]),
            np.array([each.group for each in origin]),
            np.array([each.recording for each in origin]),
            np.array([each.narrow for each in origin]),
            {moment: heard_ms(bursts) >= asked_ms(bursts, moment) for moment in MOMENTS},
            features,
        )

    def x(self, layers: Sequence[int], parts: int, moment: str) -> npt.NDArray[np.float32]:
        """(N, F) of one moment."""
        return np.concatenate(
            [self.features[f"{moment}/h{layer}/{parts}"] for layer in layers], axis=1
        ).astype(np.float32)


def train(
    some: Set, which: Bools, layers: Sequence[int], parts: int = 1,
    seeds: Sequence[int] = SEEDS,
) -> Head:  # fmt: skip
    """A head on the bursts `which`, over all moments, with equal weight of murmurs and calls, and
    of telephone band and wide band within each class."""
    rows = [which & some.heard[moment] for moment in MOMENTS]
    x = np.concatenate(
        [some.x(layers, parts, moment)[r] for moment, r in zip(MOMENTS, rows, strict=True)]
    )
    y = np.concatenate([some.kind[r] for r in rows])
    weight = np.concatenate([_weights(some.kind[r], some.narrow[r]) for r in rows])
    mean, spread = x.mean(axis=0), x.std(axis=0) + np.float32(1e-3)
    x = np.clip((x - mean) / spread, -Head.most, Head.most)
    networks = []
    for seed in seeds:
        drawn = np.random.default_rng(seed).choice(len(y), FACTOR * len(y), p=weight / weight.sum())
        model = MLPClassifier(
            (HIDDEN,), alpha=PENALTY, max_iter=EPOCHS // FACTOR, learning_rate_init=RATE,
            batch_size=BATCH, random_state=seed,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the epochs are few on purpose
            model.fit(x[drawn], y[drawn])
        assert list(model.classes_) == [0, 1, 2]
        (w, w2), (b, b2) = model.coefs_, model.intercepts_
        networks.append(tuple(np.asarray(each, np.float32) for each in (w, b, w2, b2)))
    return Head(mean, spread, tuple(networks), tuple(layers), parts)  # type: ignore[arg-type]


def _weights(kind: npt.NDArray[np.int_], narrow: Bools) -> Floats:
    out = np.zeros(len(kind))
    for k, share in enumerate(SHARES):
        for band in (False, True):
            mine = (kind == k) & (narrow == band)
            out[mine] = share / max(1, mine.sum())
    return out


def scores(head: Head, some: Set, moment: str) -> Floats:
    """log P(murmur) − log P(call) of each burst; nan where it was not heard so long."""
    odds = log_odds(head, some, moment)
    return np.where(some.heard[moment], odds[:, 0] - odds[:, 1], np.nan)


def noise_scores(head: Head, some: Set, moment: str) -> Floats:
    """log P(noise) − log P(voice) of each burst; nan where it was not heard so long."""
    odds = log_odds(head, some, moment)
    voice = np.logaddexp(odds[:, 0], odds[:, 1])
    return np.where(some.heard[moment], odds[:, 2] - voice, np.nan)


def log_odds(head: Head, some: Set, moment: str) -> Floats:
    """(N, 3): logarithms of the probabilities of murmur, call and noise."""
    x = np.clip((some.x(head.layers, head.parts, moment) - head.mean) / head.spread,
                -head.most, head.most)  # fmt: skip
    chances = np.zeros((len(x), len(KINDS)))
    for w, b, w2, b2 in head.networks:
        y = np.maximum(x @ w + b, 0) @ w2 + b2
        y = np.exp(y - y.max(axis=1, keepdims=True))
        chances += y / y.sum(axis=1, keepdims=True) / len(head.networks)
    return np.asarray(np.log(chances + graph.LEAST))


PEOPLE = ("words", "orders", "wake words", "meetings", "calls", "talk", "murmurs")


def threshold(head: Head, tuning: Set, moment: str) -> float:
    """The score over which `RESUMED` of the calls of tuning's people lie; all their sources count
    alike, so that the many words do not decide alone."""
    score = scores(head, tuning, moment)
    calls = (tuning.kind == 1) & np.isin(tuning.source, PEOPLE) & np.isfinite(score)
    sources, which = np.unique(tuning.source[calls], return_inverse=True)
    weight = 1 / np.bincount(which)[which] / len(sources)
    order = np.argsort(-score[calls])
    over = np.cumsum(weight[order])
    return float(score[calls][order][int(np.searchsorted(over, RESUMED[moment]))])


def area(murmurs: Floats, calls: Floats) -> float:
    """Area under the ROC curve; nan if there is only one class."""
    murmurs, calls = murmurs[np.isfinite(murmurs)], calls[np.isfinite(calls)]
    if not len(murmurs) or not len(calls):
        return float("nan")
    over = murmurs[:, None] > calls[None]
    return float(np.mean(over) + 0.5 * np.mean(murmurs[:, None] == calls[None]))
