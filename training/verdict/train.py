"""Trains the verdict's network on rendered bursts: `python -m training.verdict.train`.

In: a cache that `dataset` filled. Out: the mean of the last epochs' weights (npz) with words and
temperature (json), and the ONNX file. One thread, seeded; 35 minutes on one core of a busy machine.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from training.verdict import metrics
from training.verdict.dataset import load, together
from training.verdict.examples import NOISY, Examples, ages_ms, batch, examples, group
from training.verdict.net import DROPPED, Arrays, Network, arrays, export, mean_of

BATCH = 64
RATE = 2e-3
FIRST_MS = 60  # outputs at earlier ages have no loss
WORDS_WEIGHT = 0.3  # of the second task's loss
WORD_SEEN = 25  # least number of bursts of a word in the second task
WORDS_MS = 200  # age from which the second task has a loss
AVERAGED = 4  # last epochs whose weights are averaged
GOING_ON = 0.3  # default of --rate with --start, relative to RATE
ALONE_TIMES = 3  # repeats of the box alone: residual echo must never end the box's answer
# With --start this share of the bursts other than synthetic phrases is left out of an epoch: the
# network overfits to them long before it learns the phrases.
SPARED = 0.5
# Size of an epoch with --newer, and the share of each kind in it. Older bursts are fewer, since the
# network was trained on them before.
EPOCH = 24_000
SHARES = {"newer, phrases": 0.28, "newer, others": 0.34, "phrases": 0.11, "others": 0.2,
          "the box alone": 0.07}  # fmt: skip
# Weights of the loss from an age in ms on, higher at the ages of most verdicts and at the deadline.
WEIGHTS = ((0, 0.5), (140, 1.0), (200, 1.5), (340, 1.0), (640, 1.5))
SHOWN_EVERY = 3  # epochs
SHOWN_MS = (100, 200, 300, 400, 500, 700)


def keep(out: Path, weights: Arrays, words: list[str], temperature: float) -> None:
    """Write the weights, their words and temperature (json), and the ONNX file."""
    np.savez(out, allow_pickle=False, **weights)
    out.with_suffix(".json").write_text(json.dumps({"words": words, "temperature": temperature}))
    export([weights], temperature, out.with_suffix(".onnx"))


def log_odds(network: Network, some: Examples) -> np.ndarray:
    network.eval()
    out = []
    with torch.inference_mode():
        for first in range(0, len(some), 256):
            which = np.arange(first, min(len(some), first + 256))
            out.append(network(batch(some, which, None))[0].numpy())
    return np.concatenate(out)


def at_age(ms: int) -> int:
    return int(np.flatnonzero(ages_ms() <= ms)[-1])


def told(network: Network, some: Examples) -> str:
    """One line: balanced accuracy of real words and of all, by age."""
    odds = log_odds(network, some)
    real = np.array([a["origin"] == "real" for a in some.about])
    parts = []
    for ms in SHOWN_MS:
        there = some.until // 2 > at_age(ms)
        guess = odds[:, at_age(ms)].argmax(axis=1)
        parts.append(
            f"{ms}: {metrics.balanced(guess[there & real], some.kind[there & real]):.3f}"
            f"/{metrics.balanced(guess[there], some.kind[there]):.3f}"
        )
    return "  ".join(parts)


def epoch(some: Examples, spared: float, chance: np.random.Generator) -> np.ndarray:
    """The indices of an epoch's bursts, in random order."""
    alone = np.flatnonzero(["alone" in a["scene"] for a in some.about])
    phrase = np.array([a["origin"] in ("said", "hummed") for a in some.about])
    others = chance.permutation(np.flatnonzero(~phrase))
    others = others[: round(len(others) * (1 - spared))]
    each = [np.flatnonzero(phrase), others, np.repeat(alone, ALONE_TIMES - 1)]
    return chance.permutation(np.concatenate(each))


def shared_out(some: Examples, older: int, chance: np.random.Generator) -> np.ndarray:
    """The indices of an epoch's bursts by `SHARES`; the first `older` bursts are not new."""
    newer = np.arange(len(some)) >= older
    alone = np.array(["alone" in a["scene"] for a in some.about])
    phrase = np.array([a["origin"] in ("said", "hummed") for a in some.about])
    pools = dict(zip(SHARES, (newer & phrase, newer & ~phrase, ~newer & phrase,
                              ~newer & ~phrase & ~alone, alone), strict=True))  # fmt: skip
    each = []
    for name, share in SHARES.items():
        wanted, pool = round(EPOCH * share), np.flatnonzero(pools[name])
        while wanted > 0 and len(pool):
            each.append(chance.permutation(pool)[:wanted])
            wanted -= len(each[-1])
    return chance.permutation(np.concatenate(each))


@dataclass(frozen=True)
class Recipe:
    """`rate`: the schedule's highest rate; `noisy`: the share of bursts that get more noise."""

    epochs: int
    rate: float
    seed: int
    batch: int
    noisy: float


def learn(
    some: Examples,
    tuning: Examples,
    network: Network,
    recipe: Recipe,
    drawn: Callable[[np.random.Generator], np.ndarray],
) -> Arrays:
    """Train, and return the mean of the last epochs' weights.

    `drawn` returns the indices of an epoch's bursts. Every SHOWN_EVERY epochs a line is printed.
    """
    chance = np.random.default_rng(recipe.seed)
    steps = recipe.epochs * (len(drawn(chance)) // recipe.batch)
    adam = torch.optim.AdamW(network.parameters(), recipe.rate, weight_decay=0.02)
    pace = torch.optim.lr_scheduler.OneCycleLR(
        adam, recipe.rate, total_steps=steps + 1, pct_start=0.1, final_div_factor=200
    )
    kept: list[Arrays] = []
    began = time.monotonic()
    for epoch in range(recipe.epochs):
        network.train()
        order = drawn(chance)
        sums = np.zeros(2)
        for first in range(0, len(order) - recipe.batch + 1, recipe.batch):
            which = order[first : first + recipe.batch]
            loss, second = losses(network, batch(some, which, chance, recipe.noisy), some, which)
            adam.zero_grad()
            (loss + WORDS_WEIGHT * second).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            adam.step()
            pace.step()
            sums += [loss.item(), second.item()]
        kept = [*kept, arrays(network)][-AVERAGED:]
        if epoch % SHOWN_EVERY == 0 or epoch == recipe.epochs - 1:
            mean = sums / (len(order) // recipe.batch)
            print(f"epoch {epoch} {time.monotonic() - began:.0f} s  loss {mean[0]:.3f} "
                  f"words {mean[1]:.2f}  {told(network, tuning)}", flush=True)  # fmt: skip
    return mean_of(kept)


def losses(
    network: Network, rows: torch.Tensor, some: Examples, which: np.ndarray
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cross-entropy of the classes from FIRST_MS on, and of the words from WORDS_MS on."""
    answer, _, said = network(rows)
    until = torch.from_numpy(some.until[which] // 2)
    age = torch.from_numpy(ages_ms())
    mask = (torch.arange(answer.shape[1])[None] < until[:, None]) & (age >= FIRST_MS)
    kind = torch.from_numpy(some.kind[which])[:, None].expand(mask.shape)
    each = F.cross_entropy(answer[mask], kind[mask], label_smoothing=0.02, reduction="none")
    weight = _weights(age).expand(mask.shape)[mask]
    loss = (each * weight).sum() / weight.sum()
    word = torch.from_numpy(some.word[which])[:, None].expand(mask.shape)
    late = mask & (word >= 0) & (age >= WORDS_MS)
    second = F.cross_entropy(said[late], word[late]) if late.any() else loss * 0
    return loss, second


def _weights(age_ms: torch.Tensor) -> torch.Tensor:
    """The weights of the loss at these ages, by `WEIGHTS`."""
    weights = torch.zeros(age_ms.shape)
    for first_ms, weight in WEIGHTS:
        weights[age_ms >= first_ms] = weight
    return weights


def warmth(network: Network, tuning: Examples) -> float:
    """The temperature that calibrates the opinions from 200 to 700 ms."""
    odds = log_odds(network, tuning)
    there = tuning.until // 2 > at_age(700)
    ages = [at_age(ms) for ms in range(200, 701, 100)]
    said = np.concatenate([odds[there, a] for a in ages])
    return metrics.temperature(said, np.tile(tuning.kind[there], len(ages)))


def go_on(network: Network, words: list[str], start: Path) -> None:
    """Load the weights of an earlier training run; of its words, those that are still used."""
    known = json.loads(start.with_suffix(".json").read_text())["words"]
    with np.load(start) as begun:
        weights = {k: torch.from_numpy(begun[k]) for k in begun.files}
    for name, own in (("words.weight", network.words.weight), ("words.bias", network.words.bias)):
        taken = own.detach().clone()
        for i, word in enumerate(words):
            if word in known:
                taken[i] = weights[name][known.index(word)]
        weights[name] = taken
    network.load_state_dict(weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("out", type=Path, help="weights (.npz); the ONNX file lies beside it")
    parser.add_argument("--newer", type=Path, help="a cache of further bursts, drawn more often")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--shards", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--whole", action="store_true", help="train on the tuning part too")
    parser.add_argument("--start", type=Path, help="weights (.npz) to go on from, more gently")
    parser.add_argument("--rate", type=float, default=GOING_ON, help="of the first, with --start")
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--dropped", type=float, default=DROPPED, help="between the layers")
    parser.add_argument("--noisy", type=float, default=NOISY, help="of the bursts get more noise")
    parser.add_argument("--temperature", type=float, help="as it was tuned, with --whole")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    bursts = load(args.cache, "training", args.shards)
    held = load(args.cache, "tuning")
    if args.whole:
        bursts = together(bursts, held)
    older = len(bursts.about)
    if args.newer:
        bursts = together(bursts, load(args.newer, "training"))
    seen = Counter(group(a) for a in bursts.about)
    words = sorted(word for word, count in seen.items() if count >= WORD_SEEN)
    some, tuning = examples(bursts, words), examples(held, words)
    counts = Counter(a["kind"] for a in some.about)
    print(f"{len(some)} bursts {counts} {len(words)} words")
    sample = some.rows[::7].astype(np.float32).reshape(-1, some.rows.shape[2])
    network = Network(len(words), sample.mean(axis=0), sample.std(axis=0) + 0.05)
    print(sum(p.numel() for p in network.parameters()), "parameters", flush=True)
    network.drop.p = args.dropped
    if args.start:
        go_on(network, words, args.start)
    rate, spared = (RATE * args.rate, SPARED) if args.start else (RATE, 0.0)
    drawn = partial(shared_out, some, older) if args.newer else partial(epoch, some, spared)
    recipe = Recipe(args.epochs, rate, args.seed, args.batch, args.noisy)
    weights = learn(some, tuning, network, recipe, drawn)
    network.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
    print("mean of the last:", told(network, tuning))
    cooled = args.temperature or warmth(network, tuning)
    print(f"temperature {cooled:.2f}")
    keep(args.out, weights, words, cooled)


if __name__ == "__main__":
    main()
