"""Tables of the test: `python -m training.murmur.report CACHE`.

In: bursts of `bursts.py`, `appliance/models/murmur.onnx`. Out, as Markdown: how often the box goes
on over murmurs, calls and noises of the test's people and recordings, by the network of murmurs and
by the shipped verdict's on the same bursts; with an echo; by band; and what each part of the
training's data is worth.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from appliance.hear.bargein.murmur_network import AGES_MS, WHOLE
from lab.bench import intervals
from training.murmur.features import MOMENTS
from training.murmur.heads import Bools, Set, area, scores, threshold, train
from training.murmur.judged import MODEL, NOISE, Judged, judged
from training.murmur.mixture import CONVERSATION, SYNTHETIC
from training.murmur.train import LAYERS, PARTS, everything

NOISE_LOG_ODDS = np.log(NOISE / (1 - NOISE))
FEWEST = 5  # bursts of a word that has a row of its own
UNNAMED = "wake words"  # whose speakers have no names
LAST = len(AGES_MS) - 1  # the column of the last age; whole sounds are the one after it
HEADER = (
    "| sound over the box | bursts | people, recordings | "
    + " | ".join(f"{age} ms" for age in AGES_MS)
    + " (95 %) | whole (bursts) | verdict.onnx alone |\n|---|---|---|"
    + "---|" * (len(MOMENTS) + 1)
)


def row(title: str, some: Judged, which: Bools, *, people: bool = True) -> str:
    """One row: of the bursts heard to the last age, the shares over which the box goes on; then of
    those whose sound had ended, asked about as a whole.

    The interval draws people; where they are not known (`people`), or are one, it draws
    recordings, and there is none of one recording.
    """
    mine = which & np.isfinite(some.scores[:, LAST])
    if not mine.any():
        return f"| {title} | 0 | | " + "| " * (len(MOMENTS) + 1) + "|"
    on, who, recording = some.on[mine], some.person[mine], some.recording[mine]
    persons, recordings = len(set(who)), len(set(recording) - {""})
    cells = [title, str(mine.sum()), f"{persons if people else '?'}, {recordings or '–'}"]
    cells += [f"{share:.1%}" for share in on[:, : LAST + 1].mean(axis=0)]
    units = who if people and persons > 1 else recording
    if len(set(units)) > 1:
        low, high = intervals.over_groups(on[:, LAST].astype(float).tolist(), units.tolist())
        cells[-1] += f" ({low:.0%}–{high:.0%})"
    whole = some.on[which & np.isfinite(some.scores[:, -1]), -1]
    cells.append(f"{whole.mean():.1%} ({len(whole)})" if len(whole) else "–")
    theirs = some.verdict_on[mine]
    theirs = theirs[np.isfinite(theirs)]
    cells.append(f"{theirs.mean():.1%}" if len(theirs) else "–")
    return "| " + " | ".join(cells) + " |"


def masks(some: Judged) -> dict[str, Bools]:
    """The bursts of each row, by its title; murmurs first, then calls, then noises."""
    murmur, call = some.kind == "backchannel", some.kind == "interruption"
    talk = np.isin(some.source, CONVERSATION)
    out = {
        "**murmurs of conversations**": murmur & talk,
        "of meetings": murmur & talk & (some.source != "calls"),
        "of calls": murmur & (some.source == "calls"),
    }
    for word in sorted(set(some.word[murmur & (some.source == "murmurs")])):
        out[f'"{word}"'] = murmur & talk & (some.word == word)
    words = some.source == "words"
    out["Speech Commands: yes, right, wow"] = murmur & words
    for word in ("yes", "right"):
        out[f"Speech Commands: {word}"] = murmur & words & (some.word == word)
    out["imitations: espeak-ng's murmurs"] = murmur & (some.source == "said")
    out["**all calls of people**"] = call & (some.source != "said")
    out |= {
        "Speech Commands: other words": call & words,
        "orders": call & (some.source == "orders"),
        UNNAMED: call & (some.source == "wake words"),
        "meetings: floor-takes": call & (some.source == "meetings") & (some.word != "talk"),
        "meetings: starts of talk": call & (some.source == "meetings") & (some.word == "talk"),
        "calls: floor-takes": call & (some.source == "calls"),
        "imitations: espeak-ng's calls": call & (some.source == "said"),
    }
    return out


def bands(some: Judged) -> dict[str, Bools]:
    """A control of the channel: a head that takes a telephone for a murmur fails here."""
    murmur = (some.kind == "backchannel") & (some.source != "said")
    call = (some.kind == "interruption") & (some.source != "said")
    talk = call & np.isin(some.source, CONVERSATION)
    return {
        f"{name}, {band}": which & (some.narrow == narrow)
        for name, which in (("murmurs", murmur), ("calls", call), ("talk of conversations", talk))
        for band, narrow in (("telephone band", True), ("wide band", False))
    }


def noises(some: Judged) -> list[str]:
    """Rows of noises, and the share with the verdict's network asked first whether it is one."""
    noise = some.kind == "noise"
    rows = {"all real noises": noise}
    rows |= {name: noise & (some.word == name) for name in sorted(set(some.word[noise]))}
    lines = [HEADER, *(row(title, some, which, people=False) for title, which in rows.items())]
    for title, which in (("real noises", noise), ("calls of people", masks(some)[
            "**all calls of people**"])):  # fmt: skip
        mine = which & np.isfinite(some.scores[:, LAST])
        theirs, ours = (some.noise[mine] >= NOISE, some.noisy[mine, LAST] >= NOISE_LOG_ODDS)
        lines.append(
            f"\nTaken for a noise are, of {title}, by this network {ours.mean():.1%}, by "
            f"verdict.onnx {theirs.mean():.1%} (at a probability of {NOISE})."
        )
    return lines


def areas(some: Judged) -> str:
    """Areas under the ROC curve, murmurs of conversations against all calls of people."""
    rows = masks(some)
    murmurs, calls = rows["**murmurs of conversations**"], rows["**all calls of people**"]
    shares = [area(some.scores[murmurs, k], some.scores[calls, k]) for k in range(len(MOMENTS))]
    return (
        "Area under the ROC curve, murmurs of conversations against calls of people: "
        + ", ".join(
            f"{share:.3f} ({moment})" for share, moment in zip(shares, MOMENTS, strict=True)
        )
    )


def asked_again(some: Judged) -> str:
    """Shares if the box goes on at the first age whose threshold is passed, not at the last only:
    the errors of the ages add up."""
    rows, heard = masks(some), np.isfinite(some.scores[:, LAST])
    murmurs, calls = (
        some.on[rows[name] & heard, : len(AGES_MS)]
        for name in ("**murmurs of conversations**", "**all calls of people**")
    )
    return "; ".join(
        f"asked at {' and '.join(str(age) for age in AGES_MS[first:])} ms it goes on over "
        f"{murmurs[:, first:].any(axis=1).mean():.1%} of murmurs of conversations and "
        f"{calls[:, first:].any(axis=1).mean():.1%} of calls"
        for first in range(len(AGES_MS) - 1)
    )


def ablations(cache: Path) -> list[str]:
    """The head trained without a part of the data; whole sounds, thresholds of its own."""
    training, tuning, test = (Set.load(cache, name) for name in ("training", "tuning", "test"))
    every = everything(training)
    talk, made = np.isin(training.source, CONVERSATION), np.isin(training.source, SYNTHETIC)
    kept: dict[str, Bools] = {
        "everything": every,
        "without conversations": ~talk,
        "without murmurs of conversations": ~(talk & (training.kind == 0)),
        "without telephone band": ~training.narrow,
        "without synthetic voices": ~made,
        "synthetic murmurs only": made | (training.kind != 0),
        "without words": training.source != "words",
        "half of the bursts": every & (np.arange(len(every)) % 2 == 0),
    }
    lines = ["| trained on | area | murmurs of conversations | yes, right, wow | calls of people |",
             "|---|---|---|---|---|"]  # fmt: skip
    people = test.source != "said"
    murmurs = (test.kind == 0) & np.isin(test.source, CONVERSATION)
    for title, which in kept.items():
        head = train(training, which, LAYERS, PARTS)
        score, limit = scores(head, test, WHOLE), threshold(head, tuning, WHOLE)
        calls = (test.kind == 1) & people
        cells = [f"{area(score[murmurs], score[calls]):.3f}"]
        for mine in (murmurs, (test.kind == 0) & (test.source == "words"), calls):
            heard = mine & np.isfinite(score)
            cells.append(f"{np.mean(score[heard] > limit):.1%}")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--without-ablations", action="store_true")
    args = parser.parse_args()

    def table(title: str, some: Judged, rows: Callable[[Judged], dict[str, Bools]]) -> None:
        lines = [row(name, some, which, people=name != UNNAMED)
                 for name, which in rows(some).items() if which.sum() >= FEWEST]  # fmt: skip
        print(f"\n**{title}**\n\n{HEADER}\n" + "\n".join(lines), flush=True)

    test = judged(args.cache, "test", args.model)
    table("The box goes on (headphones)", test, masks)
    print(f"\n{areas(test)}; {asked_again(test)}.")
    table("By band", test, bands)
    print("\n**Kitchens**\n\n" + "\n".join(noises(test)), flush=True)
    echo = judged(args.cache, "echo", args.model)
    table("With an echo and the canceller", echo, masks)
    print(f"\n{areas(echo)}; {asked_again(echo)}.")
    if not args.without_ablations:
        print("\n**Ablations**\n\n" + "\n".join(ablations(args.cache)))


if __name__ == "__main__":
    main()
