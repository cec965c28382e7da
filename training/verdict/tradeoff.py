"""Plots the two errors against each other: `python -m training.verdict.tradeoff JSON PNG`.

In: the output of `evaluate --json`. Out: one picture with a panel for each group of sounds:
interruptions resumed over backchannels given way to, by network and age, and the target region.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the backend was chosen: there is no screen

WANTED = (0.20, 0.02)  # upper limits: backchannels given way to, interruptions resumed
COLOURS = ("#0b7a75", "#c2571a", "#5b4b8a")
LEAST = 0.003  # smaller shares are drawn as this


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("points", type=Path)
    parser.add_argument("picture", type=Path)
    args = parser.parse_args()
    networks: dict[str, dict[str, dict[str, list[list[float]]]]] = json.loads(
        args.points.read_text()
    )
    names = list(next(iter(networks.values())))
    figure, panels = plt.subplots(1, len(names), figsize=(4.2 * len(names), 4), sharey=True)
    for panel, name in zip(panels, names, strict=True):
        for colour, (network, groups) in zip(COLOURS, networks.items(), strict=False):
            for age, curve in groups[name].items():
                x, y = (
                    [max(LEAST, value) for value in column] for column in zip(*curve, strict=True)
                )
                dashes = "-" if age.startswith("7") else ":"
                panel.plot(x, y, dashes, color=colour, label=f"{network}, {age}")
        panel.fill_between([LEAST, WANTED[0]], LEAST, WANTED[1], color="#dde3e8")
        panel.set(title=name, xscale="log", yscale="log", xlim=(LEAST, 1), ylim=(LEAST, 1),
                  xlabel="backchannels given way to")  # fmt: skip
    panels[0].set_ylabel("interruptions resumed")
    panels[-1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(args.picture, dpi=110)


if __name__ == "__main__":
    main()
