"""One network between two: `python -m training.verdict.soup CACHE FIRST SECOND OUT`.

In: weights (npz) of two trainings, of which the second went on from the first. Out: the weights on
the straight line between them that tell interruptions from backchannels best on the tuning part,
as `train` writes them. What one of the two has learnt by heart, the other has not (M. Wortsman et
al., "Model soups", 2022).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from training.verdict import figures
from training.verdict.examples import Examples, examples
from training.verdict.gather import load
from training.verdict.net import Arrays, Network, export
from training.verdict.train import at_age, log_odds, told, warmth

SHARES = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)  # of the second
JUDGED_MS = (300, 700)


def between(first: Arrays, second: Arrays, share: float) -> Arrays:
    """The layer that names words is the second's: it is not in the ONNX file."""
    return {name: value if name.startswith("words.") else
            ((1 - share) * first[name] + share * value).astype(np.float32)
            for name, value in second.items()}  # fmt: skip


def separation(network: Network, tuning: Examples) -> float:
    """Of phrases and of real words, at two ages: the mean area under the curve."""
    odds = log_odds(network, tuning)
    real = np.array([a["origin"] == "real" for a in tuning.about])
    areas = []
    for ms in JUDGED_MS:
        at = at_age(ms)
        for whose in (real, ~real):
            there = whose & (tuning.until // 2 > at)
            sure = odds[:, at, 1] - np.logaddexp(odds[:, at, 0], odds[:, at, 2])
            areas.append(
                figures.area(sure[there & (tuning.kind == 1)], sure[there & (tuning.kind == 0)])
            )
    return float(np.mean(areas))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    first, second = (dict(np.load(path)) for path in (args.first, args.second))
    words = json.loads(args.second.with_suffix(".json").read_text())["words"]
    tuning = examples(load(args.cache, "tuning"), words)
    network = Network(len(words), second["mean"], second["spread"])
    tried = []
    for share in SHARES:
        weights = between(first, second, share)
        network.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
        tried.append((separation(network, tuning), warmth(network, tuning), weights))
        print(f"{share:.1f}: area {tried[-1][0]:.4f}  {told(network, tuning)}", flush=True)
    _, cooled, weights = max(tried, key=lambda each: each[0])
    print(f"temperature {cooled:.2f}")
    np.savez(args.out, allow_pickle=False, **weights)
    args.out.with_suffix(".json").write_text(json.dumps({"words": words, "temperature": cooled}))
    export(weights, cooled, args.out.with_suffix(".onnx"))


if __name__ == "__main__":
    main()
