"""Averages the weights of several training runs.

    python -m training.verdict.weight_average CACHE OUT FIRST LATER …

In: weights (npz) of a run, and of others that continued from it. Out, in the format of `train`: the
weights with the least cross-entropy on the tuning part, on the straight line from the first to the
mean of the later ones. The runs overfit differently (M. Wortsman et al., "Model soups", 2022).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from training.verdict import metrics
from training.verdict.dataset import load
from training.verdict.examples import Examples, examples
from training.verdict.net import Arrays, Network, mean_of
from training.verdict.train import at_age, keep, log_odds, told, warmth

SHARES = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)  # weight of the later runs
JUDGED_MS = (200, 300, 500, 700)


def between(first: Arrays, later: Arrays, share: float) -> Arrays:
    """Interpolate the weights. The words' layer is the later one's: the ONNX file lacks it."""
    return {name: value if name.startswith("words.") else
            ((1 - share) * first[name] + share * value).astype(np.float32)
            for name, value in later.items()}  # fmt: skip


def cost(network: Network, tuning: Examples, temperature: float) -> float:
    """Mean cross-entropy at some ages, with equal weight of real words and of all other sounds."""
    shares = metrics.softmax(log_odds(network, tuning) / temperature)
    real = np.array([a["origin"] == "real" for a in tuning.about])
    costs = []
    for at in map(at_age, JUDGED_MS):
        for whose in (real, ~real):
            there = np.flatnonzero(whose & (tuning.until // 2 > at))
            costs.append(-np.mean(np.log(shares[there, at, tuning.kind[there]] + 1e-9)))
    return float(np.mean(costs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("first", type=Path)
    parser.add_argument("later", type=Path, nargs="+")
    args = parser.parse_args()
    torch.set_num_threads(1)
    first, *others = (dict(np.load(path)) for path in (args.first, *args.later))
    second = mean_of(others)
    words = json.loads(args.later[0].with_suffix(".json").read_text())["words"]
    tuning = examples(load(args.cache, "tuning"), words)
    network = Network(len(words), second["mean"], second["spread"])
    tried = []
    for share in SHARES:
        weights = between(first, second, share)
        network.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
        cooled = warmth(network, tuning)
        tried.append((cost(network, tuning, cooled), cooled, weights))
        print(f"{share:.1f}: cost {tried[-1][0]:.4f}  {told(network, tuning)}", flush=True)
    _, cooled, weights = min(tried, key=lambda each: each[0])
    print(f"temperature {cooled:.2f}")
    keep(args.out, weights, words, cooled)


if __name__ == "__main__":
    main()
