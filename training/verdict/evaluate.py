"""Accuracy of networks: `python -m training.verdict.evaluate CACHE --role held-out`.

In: bursts of a role (`dataset --role held-out`), ONNX files. Out: for each network the accuracy by
age with 95 % intervals, the decision rule's verdicts and latency, calibration, the trade-off of the
two errors, and the errors by condition; as Markdown, and as JSON for `tradeoff`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt

from appliance.hear.bargein.classifier import (
    IN_NETWORK,
    ClassProbabilities,
    DecisionSchedule,
    decide,
)
from appliance.hear.bargein.features import GIVEN_MS
from appliance.hear.bargein.network import MODEL, VerdictNetwork
from appliance.messages.hearing import Judgement
from appliance.pcm import BLOCK_FRAMES, RATE_HZ
from appliance.settings import VerdictSettings, load_defaults
from lab.bench import intervals
from lab.sim.corpus import Role
from training.verdict import metrics
from training.verdict.dataset import Bursts, load
from training.verdict.examples import KINDS, Examples, ages_ms, examples
from training.verdict.render import conditions

SHOWN_MS = (100, 200, 300, 400, 500, 700)
RESUMED = (0.7, 0.8, 0.85, 0.9, 0.95)  # shares of backchannels, at which to read the other error
POINTS = 60  # points of a trade-off's curve
BLOCK_MS = BLOCK_FRAMES * 1000 // RATE_HZ
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Opinions:
    """odds (N, ages, 3) and quiet ms (N, ages), at the ages of `ages_ms`."""

    odds: Floats
    quiet_ms: Floats
    some: Examples

    def at(self, ms: int) -> int:
        return int(np.flatnonzero(ages_ms() <= ms)[-1])


def opinions(bursts: Bursts, model: Path) -> Opinions:
    some, network = examples(bursts, []), VerdictNetwork(model)
    odds = np.zeros((len(some), len(ages_ms()), 3))
    for i, rows in enumerate(some.rows.astype(np.float32)):
        network.reset()
        odds[i] = metrics.softmax(network.infer(rows)[0])
    quiet = np.zeros((len(some), len(ages_ms())))
    for i, about in enumerate(bursts.about):
        step = (ages_ms() + GIVEN_MS) // BLOCK_MS - int(about["past_steps"]) - 1
        here = (step >= 0) & (step < bursts.steps[i])
        quiet[i, here] = bursts.measures[i, step[here], 4]
    return Opinions(odds, quiet, some)


def verdicts(
    said: Opinions, rule: VerdictSettings, trust: DecisionSchedule = IN_NETWORK
) -> tuple[list[Judgement | None], npt.NDArray[np.int_]]:
    """The box's verdict on each burst, and its time.

    Some bursts end before, because the speech detector had found no voice. Their verdict is noise,
    unless the network says speech: then the box would have continued to listen, and the verdict is
    unknown (None).
    """
    kinds: list[Judgement | None] = []
    ages = []
    due = [ms for ms in range(rule.first_ms, rule.deadline_ms + 1, 20)
           if (ms - rule.first_ms) % rule.every_ms == 0 or ms == rule.deadline_ms]  # fmt: skip
    for i, until in enumerate(said.some.until // 2):
        kind: Judgement | None = None
        for ms in due:
            at = said.at(ms)
            if at >= until:
                kind = "noise" if said.odds[i, until - 1, 2] >= trust.vouches else None
                break
            odds = ClassProbabilities(*said.odds[i, at].tolist())
            kind = decide(odds, int(said.quiet_ms[i, at]), ms, rule, trust)
            if kind is not None:
                break
        kinds.append(kind)
        ages.append(ms)
    return kinds, np.array(ages)


def curve(said: Opinions, which: npt.NDArray[np.bool_]) -> list[str]:
    """Balanced accuracy by age: of resuming or not (two classes, speech only), and of all three."""
    lines = ["| age | two classes | 95 % | three classes |", "|---|---|---|---|"]
    who = np.array([a["who"] or a["scene"] for a in said.some.about])
    for ms in SHOWN_MS:
        at = said.at(ms)
        there = which & (said.some.until // 2 > at)
        speech = there & (said.some.kind < 2)
        odds, kind = said.odds[speech, at], said.some.kind[speech]
        yields = (odds[:, 1] >= np.maximum(odds[:, 0], odds[:, 2])).astype(int)
        low, high = metrics.interval(yields, kind, who[speech].tolist())
        three = metrics.balanced(said.odds[there, at].argmax(axis=1), said.some.kind[there])
        lines.append(f"| {ms} ms | {metrics.balanced(yields, kind):.3f} | {low:.3f} to {high:.3f} "
                     f"| {three:.3f} |")  # fmt: skip
    return lines


def decisions(said: Opinions, rule: VerdictSettings, which: npt.NDArray[np.bool_]) -> list[str]:
    kinds, ages = verdicts(said, rule)
    known = which & np.array([kind is not None for kind in kinds])
    gave_way = np.array([kind == "interruption" for kind in kinds])
    lines = [
        "| what it was | n | goes on | 95 % | gives way | verdict p50 / p95 |",
        "|---|---|---|---|---|---|",
    ]
    for i, kind in enumerate(KINDS):
        mine = known & (said.some.kind == i)
        count, on = int(mine.sum()), int((mine & ~gave_way).sum())
        if not count:
            continue
        low, high = intervals.share(on, count)
        p50, p95 = np.percentile(ages[mine], [50, 95])
        lines.append(f"| {kind} | {count} | {on / count:.1%} | {low:.1%} to {high:.1%} "
                     f"| {1 - on / count:.1%} | {p50:.0f} / {p95:.0f} ms |")  # fmt: skip
    speech = known & (said.some.kind < 2)
    low, high = intervals.percentile(ages[speech].tolist(), 50)
    right = metrics.balanced(gave_way[speech].astype(int), said.some.kind[speech])
    noises = np.array([kind == "noise" for kind in kinds])
    over = known & ~gave_way & (said.some.kind == 1)
    lost = int((which & (said.some.kind < 2)).sum() - speech.sum())
    lines += ["", f"All speech: balanced accuracy {right:.3f}; verdict p50 "
              f"{np.percentile(ages[speech], 50):.0f} ms ({low:.0f} to {high:.0f}). "
              f"{lost} more were cut off while it would have listened on. Of the {over.sum()} "
              f"interruptions that it resumed over, {(over & noises).sum()} passed for a "
              "noise."]  # fmt: skip
    return lines


def tradeoff(said: Opinions, which: npt.NDArray[np.bool_], ms: int) -> tuple[Floats, Floats]:
    """The probability "interruption" at this age, of interruptions (n,) and backchannels (m,).

    A threshold resumes those below it.
    """
    at = said.at(ms)
    there = which & (said.some.until // 2 > at)
    odds = said.odds[:, at, 1]
    return odds[there & (said.some.kind == 1)], odds[there & (said.some.kind == 0)]


def tradeoffs(said: Opinions, which: npt.NDArray[np.bool_]) -> list[str]:
    """Interruptions resumed at the thresholds that resume the shares RESUMED of backchannels."""
    lines = ["| backchannels resumed | " + " | ".join(f"{share:.0%}" for share in RESUMED) + " |",
             "|---" * (len(RESUMED) + 1) + "|"]  # fmt: skip
    for ms in (300, 500, 700):
        calls, murmurs = tradeoff(said, which, ms)
        shares = [float(np.mean(calls < np.quantile(murmurs, r))) for r in RESUMED]
        lines.append(f"| interruptions resumed, {ms} ms | "
                     + " | ".join(f"{share:.1%}" for share in shares) + " |")  # fmt: skip
    return lines


def points(said: Opinions, which: npt.NDArray[np.bool_]) -> dict[str, list[list[float]]]:
    """Points of the curve at some ages: [backchannels given way to, interruptions resumed]."""
    made = {}
    for ms in (300, 700):
        calls, murmurs = tradeoff(said, which, ms)
        at = np.quantile(np.concatenate([calls, murmurs]), np.linspace(0, 1, POINTS))
        made[f"{ms} ms"] = [[float(np.mean(murmurs >= t)), float(np.mean(calls < t))] for t in at]
    return made


def errors(said: Opinions, rule: VerdictSettings, words: int = 20) -> list[str]:
    """Shares of wrong verdicts by echo, noise, room and length, then by word."""
    kinds, _ = verdicts(said, rule)
    rows: dict[str, list[bool]] = defaultdict(list)
    spoken: dict[str, list[bool]] = defaultdict(list)
    for about, kind, decided_kind in zip(said.some.about, said.some.kind, kinds, strict=True):
        if kind == 2 or decided_kind is None or about["scene"].count(" ") != 1:
            continue
        wrong = (decided_kind == "interruption") != (kind == 1)
        role, seed = about["scene"].split()
        where = conditions(role, int(seed))
        whose = "people" if about["origin"] == "real" else "synthetic"
        for name, value, edges in (
            ("echo against the owner, dB", where.echo_db - where.level_db, (-99, -12, -4, 4, 99)),
            ("owner over the noise, dB", where.level_db - where.noise_db, (0, 12, 20, 30, 99)),
            ("RT60, ms", where.rt60_s * 1000, (0, 250, 400, 999)),
            ("length, ms", about["length_ms"], (0, 250, 350, 500, 800, 9999)),
        ):
            bin_ = int(np.searchsorted(edges, value, "right"))
            rows[f"{name}, {edges[bin_ - 1]} to {edges[bin_]} | {whose} {KINDS[kind]}s"].append(
                wrong
            )
        spoken[f"{about['word']} | {whose} {KINDS[kind]}s"].append(wrong)
    worst = sorted(spoken.items(), key=lambda row: -sum(row[1]))[:words]
    lines = ["| where | what | n | wrong |", "|---|---|---|---|"]
    for name, wrongs in [*sorted(rows.items()), *worst]:
        lines.append(f"| {name} | {len(wrongs)} | {np.mean(wrongs):.1%} |")
    return lines


def groups(said: Opinions) -> dict[str, npt.NDArray[np.bool_]]:
    origin = np.array([a["origin"] for a in said.some.about])
    return {
        "recordings of people": origin == "real",
        "synthetic phrases and hums": np.isin(origin, ["said", "hummed"]),
        "everything": np.ones(len(origin), bool),
    }


def report(said: Opinions, rule: VerdictSettings) -> str:
    speech = said.some.kind < 2
    lines = [f"{len(said.some)} bursts: {dict(Counter(a['origin'] for a in said.some.about))}"]
    for name, which in groups(said).items():
        if (which & speech).any():
            lines += ["", f"**{name}**", "", *curve(said, which), "", *decisions(said, rule, which),
                      "", *tradeoffs(said, which)]  # fmt: skip
    late = said.at(500)
    there = said.some.until // 2 > late
    error = metrics.calibration_error(said.odds[there, late], said.some.kind[there])
    lines += ["", f"Expected calibration error at 500 ms: {error:.3f}."]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--role", choices=get_args(Role), default="held-out")
    parser.add_argument("--model", type=Path, nargs="+", default=[MODEL])
    parser.add_argument("--errors", action="store_true", help="a table of where it goes wrong")
    parser.add_argument("--json", type=Path, help="the trade-off's points, for `tradeoff`")
    args = parser.parse_args()
    bursts, rule = load(args.cache, args.role), load_defaults().hearing.verdict
    kept = {}
    for model in args.model:
        said = opinions(bursts, model)
        print(f"## {model.stem}\n\n{report(said, rule)}\n")
        if args.errors:
            print("\n".join(errors(said, rule)), "\n")
        kept[model.stem] = {name: points(said, which) for name, which in groups(said).items()}
    if args.json:
        args.json.write_text(json.dumps(kept))


if __name__ == "__main__":
    main()
