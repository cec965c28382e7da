"""How good the shipped network is: `python -m training.verdict.evaluate CACHE --role held-out`.

In: kept bursts of a role (`gather --role held-out`), the ONNX file. Out: the curve by age with 95 %
intervals over speakers, what the decision rule makes of it, latency, calibration; as Markdown.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from appliance.hear.features import GIVEN_MS
from appliance.hear.network import MODEL, Network
from appliance.hear.senses import STEP_FRAMES
from appliance.hear.verdict import IN_NETWORK, Odds, decided
from appliance.processes import RATE_HZ
from appliance.settings import Verdict, load_defaults
from training.verdict import figures
from training.verdict.examples import KINDS, Examples, ages_ms, examples
from training.verdict.gather import Bursts, load
from training.verdict.sounds import Role

SHOWN_MS = (100, 200, 300, 400, 500, 700)
STEP_MS = STEP_FRAMES * 1000 // RATE_HZ
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
    some, network = examples(bursts, []), Network(model)
    odds = np.zeros((len(some), len(ages_ms()), 3))
    for i, rows in enumerate(some.rows.astype(np.float32)):
        network.reset()
        odds[i] = figures.softmax(network.run(rows)[0])
    quiet = np.zeros((len(some), len(ages_ms())))
    for i, about in enumerate(bursts.about):
        step = (ages_ms() + GIVEN_MS) // STEP_MS - int(about["past_steps"]) - 1
        here = (step >= 0) & (step < bursts.steps[i])
        quiet[i, here] = bursts.measures[i, step[here], 4]
    return Opinions(odds, quiet, some)


def verdicts(said: Opinions, rule: Verdict) -> tuple[list[str], npt.NDArray[np.int_]]:
    """What the box decides of each burst, and when. One that was cut off before, because the
    speech detector had heard no voice by then, is judged by its last opinion if the network vouched
    for it (as the box would have followed it), and is a noise if it did not."""
    kinds, ages = [], []
    due = [ms for ms in range(rule.first_ms, rule.deadline_ms + 1, 20)
           if (ms - rule.first_ms) % rule.every_ms == 0 or ms == rule.deadline_ms]  # fmt: skip
    for i, until in enumerate(said.some.until // 2):
        kind, age = "noise", 150
        for ms in due:
            at = said.at(ms)
            if at >= until:
                last = Odds(*said.odds[i, until - 1].tolist())
                kind = "noise" if last.noise >= 0.5 else last.likeliest()
                break
            odds = Odds(*said.odds[i, at].tolist())
            verdict = decided(odds, int(said.quiet_ms[i, at]), ms, rule, IN_NETWORK)
            if verdict is not None:
                kind, age = verdict, ms
                break
        kinds.append(kind)
        ages.append(age)
    return kinds, np.array(ages)


def curve(said: Opinions, which: npt.NDArray[np.bool_]) -> list[str]:
    """Balanced accuracy by age: going on or not (two classes, of speech), and all three."""
    lines = ["| age | two classes | 95 % | three classes |", "|---|---|---|---|"]
    who = np.array([a["who"] or a["scene"] for a in said.some.about])
    for ms in SHOWN_MS:
        at = said.at(ms)
        there = which & (said.some.until // 2 > at)
        speech = there & (said.some.kind < 2)
        odds, kind = said.odds[speech, at], said.some.kind[speech]
        yields = (odds[:, 1] >= np.maximum(odds[:, 0], odds[:, 2])).astype(int)
        low, high = figures.interval(yields, kind, who[speech].tolist())
        three = figures.balanced(said.odds[there, at].argmax(axis=1), said.some.kind[there])
        lines.append(f"| {ms} ms | {figures.balanced(yields, kind):.3f} | {low:.3f} to {high:.3f} "
                     f"| {three:.3f} |")  # fmt: skip
    return lines


def decisions(said: Opinions, rule: Verdict, which: npt.NDArray[np.bool_]) -> list[str]:
    kinds, ages = verdicts(said, rule)
    lines = [
        "| what it was | n | goes on | gives way | verdict p50 / p95 |",
        "|---|---|---|---|---|",
    ]
    for i, kind in enumerate(KINDS):
        mine = np.flatnonzero(which & (said.some.kind == i))
        if not len(mine):
            continue
        gave_way = np.mean([kinds[j] == "interruption" for j in mine])
        p50, p95 = np.percentile(ages[mine], [50, 95])
        lines.append(f"| {kind} | {len(mine)} | {1 - gave_way:.1%} | {gave_way:.1%} "
                     f"| {p50:.0f} / {p95:.0f} ms |")  # fmt: skip
    speech = which & (said.some.kind < 2)
    lines += ["", f"All speech: p50 {np.percentile(ages[speech], 50):.0f} ms."]
    return lines


def report(said: Opinions, rule: Verdict) -> str:
    origin = np.array([a["origin"] for a in said.some.about])
    speech = said.some.kind < 2
    lines = [f"{len(said.some)} bursts: {dict(Counter(origin.tolist()))}"]
    groups: dict[str, Any] = {
        "recordings of people": origin == "real",
        "synthetic phrases and hums": np.isin(origin, ["said", "hummed"]),
        "everything": np.ones(len(origin), bool),
    }
    for name, which in groups.items():
        if (which & speech).any():
            lines += ["", f"**{name}**", "", *curve(said, which), "", *decisions(said, rule, which)]
    late = said.at(500)
    there = said.some.until // 2 > late
    error = figures.calibration_error(said.odds[there, late], said.some.kind[there])
    lines += ["", f"Expected calibration error at 500 ms: {error:.3f}."]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--role", choices=get_args(Role), default="held-out")
    parser.add_argument("--model", type=Path, default=MODEL)
    args = parser.parse_args()
    said = opinions(load(args.cache, args.role), args.model)
    print(report(said, load_defaults().hearing.verdict))


if __name__ == "__main__":
    main()
