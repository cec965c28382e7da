"""Saves outputs of the shipped network for sounds of many voices, which enrolment must preserve.

In: training bursts, the ONNX file. Out: `models/verdict-anchors.npz`, 80 kB: log odds and
embeddings, no sound. `python -m training.verdict.anchors CACHE OUT`
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from appliance.hear.bargein.network import MODEL, VerdictNetwork
from training.verdict.dataset import load
from training.verdict.examples import ages_ms, examples

COUNT = 600
AGES_MS = (200, 700)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", type=Path, default=MODEL)
    args = parser.parse_args()
    chance = np.random.default_rng(1)
    some = examples(load(args.cache, "training", 3), [])
    network = VerdictNetwork(args.model)
    log_odds, embedding = [], []
    usable = np.flatnonzero(some.until // 2 > np.flatnonzero(ages_ms() <= AGES_MS[1])[-1])
    for i in chance.choice(usable, COUNT, replace=False):
        network.reset()
        said, made = network.infer(some.rows[i].astype(np.float32))
        at = np.flatnonzero(ages_ms() <= chance.integers(*AGES_MS))[-1]
        log_odds.append(said[at])
        embedding.append(made[at])
    np.savez(
        args.out,
        log_odds=np.array(log_odds, np.float16),
        embedding=np.array(embedding, np.float16),
    )


if __name__ == "__main__":
    main()
