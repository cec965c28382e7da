"""Trains the head and writes the shipped file: `python -m training.murmur.train CACHE OUT.onnx`.

In: bursts and features in `CACHE`. Out: encoder and head in one file, whose metadata hold the
thresholds; on the terminal, areas under the ROC curve on tuning's bursts and out of
fold, by which layers and parts were chosen (`--compare`).
"""

from __future__ import annotations

import argparse
import hashlib
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx

from appliance.hear.bargein.murmur_network import WHOLE
from training.murmur import graph
from training.murmur.features import ENCODER, MOMENTS
from training.murmur.graph import Head
from training.murmur.heads import PEOPLE, Bools, Floats, Set, area, scores, threshold, train
from training.murmur.mixture import CONVERSATION

FOLDS = 4
CHOICES = (((4,), 1), ((3, 4), 1), ((2, 3, 4), 1), ((4,), 3), ((2, 3, 4), 3))
LAYERS, PARTS = CHOICES[2]  # better on tuning than (4,), alike out of fold


def out_of_fold(some: Set, layers: Sequence[int], parts: int, moment: str) -> Floats:
    """Scores of training's bursts by heads that did not hear their group (one seed)."""
    fold = np.array([zlib.crc32(group.encode()) % FOLDS for group in some.group])
    out = np.full(len(fold), np.nan)
    for each in range(FOLDS):
        head = train(some, fold != each, layers, parts, seeds=(0,))
        out[fold == each] = scores(head, some, moment)[fold == each]
    return out


def compare(training: Set, tuning: Set) -> list[str]:
    """Areas for each choice of layers and parts, of whole sounds."""
    lines = ["| layers, parts | tuning | out of fold: conversations | words | all people |",
             "|---|---|---|---|---|"]  # fmt: skip
    for layers, parts in CHOICES:
        head = train(training, everything(training), layers, parts)
        score, crossed = scores(head, tuning, WHOLE), out_of_fold(training, layers, parts, WHOLE)
        cells = [area(score[tuning.kind == 0], score[tuning.kind == 1])]
        people = np.isin(training.source, PEOPLE)
        calls = crossed[people & (training.kind == 1)]
        cells += [area(crossed[which & (training.kind == 0)], calls)
                  for which in (np.isin(training.source, CONVERSATION),
                                training.source == "words", people)]  # fmt: skip
        lines.append(f"| {layers}, {parts} | " + " | ".join(f"{x:.3f}" for x in cells) + " |")
    return lines


def everything(some: Set) -> Bools:
    return np.ones(len(some.kind), bool)


def save(head: Head, thresholds: dict[str, float], encoder: Path, out: Path) -> None:
    """Write encoder and head as one file, with the thresholds (moment → score) as its metadata."""
    model = graph.with_head(onnx.load(str(encoder)), head)
    model.producer_name = "training/murmur"
    onnx.helper.set_model_props(model, {f"threshold {moment}": f"{value:.4f}"
                                        for moment, value in thresholds.items()})  # fmt: skip
    onnx.save(model, str(out))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--compare", action="store_true", help="a table of layers and parts")
    args = parser.parse_args()
    began = time.monotonic()
    training, tuning = (Set.load(args.cache, name) for name in ("training", "tuning"))
    print(f"{len(training.kind)} bursts of training, {len(tuning.kind)} of tuning", flush=True)
    if args.compare:
        print("\n".join(compare(training, tuning)), flush=True)
    head = train(training, everything(training), LAYERS, PARTS)
    thresholds = {moment: threshold(head, tuning, moment) for moment in MOMENTS}
    save(head, thresholds, args.cache / ENCODER, args.out)
    for moment in MOMENTS:
        score = scores(head, tuning, moment)
        heard = np.isfinite(score)
        murmurs, calls = (score[heard & (tuning.kind == kind)] for kind in (0, 1))
        over = [np.mean(each > thresholds[moment]) for each in (murmurs, calls)]
        print(f"{moment}: area {area(murmurs, calls):.3f}, threshold {thresholds[moment]:.3f}, "
              f"over it {over[0]:.1%} of murmurs and {over[1]:.1%} of calls")  # fmt: skip
    digest = hashlib.sha256(args.out.read_bytes()).hexdigest()
    print(
        f"{args.out}: {args.out.stat().st_size} bytes, {digest}, {time.monotonic() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
