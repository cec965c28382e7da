"""Plots the figures of the interruption bench: one PNG each, and one with all plots."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np

from appliance.errors import StorageError
from lab.bench import interruption_figures as figures
from lab.bench.interruption_figures import CLASSES, OUTCOMES
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import QUIET
from lab.bench.interruption_tables import PAUSE_LIMITS
from lab.bench.interruption_trials import InterruptionTrial

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the backend without a display was chosen
from matplotlib.patches import Rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT, PAPER = "#1d2733", "#8a96a3", "#ffffff"
OURS, ARTICLE, TARGET = "#0b7a75", "#c2571a", "#b3261e"
COLOURS = {"backchannel": "#0b7a75", "interruption": "#c2571a", "noise": "#5b4b8a"}
SHOWN_MS = 400.0  # longest stop on the axis; later ones are in the last bar


def draw(found: InterruptionFindings, folder: Path) -> list[str]:
    """Write the plots for which there are figures. Returns a sentence about the written files.

    Raises StorageError if they cannot be written.
    """
    panels = [(name, panel) for name, (panel, has_figures) in PANELS.items() if has_figures(found)]
    if not panels:
        return ["No picture: nothing to draw was measured."]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, panel in panels:
            figure, axis = plt.subplots(figsize=(8, 5), dpi=110, facecolor=PAPER)
            panel(axis, found)
            _save(figure, folder / f"{name}.png")
        columns = min(2, len(panels))
        rows = -(-len(panels) // columns)
        figure, grid = plt.subplots(rows, columns, figsize=(7.5 * columns, 5.2 * rows), dpi=110,
                                    facecolor=PAPER, squeeze=False)  # fmt: skip
        for axis, (_, panel) in zip(grid.flat, panels, strict=False):
            panel(axis, found)
        for axis in grid.flat[len(panels) :]:
            axis.set_visible(False)
        _save(figure, folder / "interruption.png")
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written ({error.strerror}).") from error
    return [f"Drawn: {folder}/interruption.png, and each picture by itself."]


def _save(figure: Any, path: Path) -> None:
    figure.tight_layout(pad=1.6, h_pad=3.0, w_pad=3.0)
    figure.savefig(path, facecolor=PAPER)
    plt.close(figure)


def _stop(axis: Axes, found: InterruptionFindings) -> None:
    """Time from a word's first sample to silence, of the listener's pipeline alone."""
    ours, article = (found.trials(QUIET.name, by) for by in ("ours", "article"))
    _distribution(axis, ours, article, "offline")


def _stop_live(axis: Axes, found: InterruptionFindings) -> None:
    """Time from a word's first sample to silence, of the real processes."""
    ours, article = (live.get(QUIET.name, []) for live in (found.live, found.live_article))
    _distribution(axis, ours, article, "real processes")


def _distribution(
    axis: Axes, ours: list[InterruptionTrial], article: list[InterruptionTrial], where: str
) -> None:
    bins = np.arange(0, SHOWN_MS + 1, 10)
    peaks = []
    rows = ((ours, OURS, "Interlude"), (article, ARTICLE, "the article"))
    for number, (all_trials, colour, label) in enumerate(rows):
        trials = figures.stops(all_trials)
        times = [SHOWN_MS if t.stop_ms is None else min(t.stop_ms, SHOWN_MS - 1) for t in trials]
        if not times:
            continue
        weights = np.full(len(times), 100 / len(times))
        heights, _, _ = axis.hist(
            times, bins.tolist(), weights=weights, color=colour, alpha=0.75, lw=0
        )
        median = figures.stop_percentile(trials, 50).value
        peaks.append(float(np.max(heights)))
        axis.axvline(min(median, SHOWN_MS), color=colour, lw=1.2, ls="--")
        text = f"{label}: p50 {median:.0f} ms, n {len(times)}"
        axis.text(0.98, 0.97 - 0.08 * number, text, color=colour, size=10.5, ha="right", va="top",
                  transform=axis.transAxes)  # fmt: skip
    axis.set_xlim(0, SHOWN_MS)
    axis.set_ylim(0, max(peaks, default=1) * 1.08)
    title = f"Silent so long after the first sample of a word ({where})"
    _label_axis(axis, title, "ms (quiet room; the last bar: later, or never)", "% of words")


def _trade_off(axis: Axes, found: InterruptionFindings) -> None:
    """For every threshold: interruptions talked over against backchannels yielded to."""
    trials = found.trials()
    for age_ms, colour, width in ((200, FAINT, 1.2), (300, COLOURS["noise"], 1.6),
                                  (500, OURS, 1.8), (700, INK, 2.2)):  # fmt: skip
        points = np.array(figures.trade_off(trials, age_ms))
        if len(points):
            axis.plot(100 * points[:, 1], 100 * points[:, 0], color=colour, lw=width,
                      label=f"opinion at {age_ms} ms", drawstyle="steps-post")  # fmt: skip
    resumed = figures.taken_for(trials, "interruption", ("backchannel", "noise", "no pause"))
    yielded = figures.taken_for(trials, "backchannel", ("interruption",))
    axis.plot(100 * yielded.value, 100 * resumed.value, "o", color=TARGET, ms=9, zorder=5,
              label="the verdicts as they were given")  # fmt: skip
    axis.add_patch(Rectangle((0, 0), 20, 2, color=OURS, alpha=0.18, lw=0))
    axis.text(19.6, 2.3, "the goal", color=OURS, size=9, ha="right", va="bottom")
    shown = 50 if max(resumed.value, yielded.value) < 0.45 else 100
    axis.set_xlim(0, shown)
    axis.set_ylim(0, shown)
    _legend(axis, "upper right")
    _label_axis(axis, "What it costs not to be talked over", "% of backchannels yielded to",
                "% of interruptions talked over")  # fmt: skip


def _over_time(axis: Axes, found: InterruptionFindings) -> None:
    """Balanced accuracy of the opinion by the age of the sound."""
    trials = found.trials()
    lines: tuple[tuple[Literal["two", "three"], str, str], ...] = (
        ("two", OURS, "speech: resume or yield"),
        ("three", COLOURS["noise"], "all three classes"),
    )
    for classes, colour, label in lines:
        accuracies = [figures.accuracy(trials, age, classes) for age in figures.AGES_MS]
        axis.plot(figures.AGES_MS, [f.value for f in accuracies], color=colour, lw=2, label=label)
        low, high = [f.low for f in accuracies], [f.high for f in accuracies]
        axis.fill_between(figures.AGES_MS, low, high, color=colour, alpha=0.15, lw=0)
    for age_ms, target in ((300, 0.85), (700, 0.92)):
        axis.plot(age_ms, target, marker="_", ms=18, mew=2.5, color=TARGET)
        axis.text(age_ms, target + 0.012, f"{target:.2f}", color=TARGET, size=9, ha="center")
    axis.axhline(0.5, color=FAINT, lw=0.7, ls=":")
    axis.set_ylim(0.3, 1.0)
    axis.set_xlim(90, 715)
    _legend(axis, "lower right")
    _label_axis(axis, "The verdict as the sound goes on", "ms since the onset", "balanced accuracy")


def _confusion(axis: Axes, found: InterruptionFindings) -> None:
    """Confusion matrix: the sound's class against the first pause's verdict."""
    counts = figures.confusion(found.trials())
    shares = np.array([[counts[k][o] / (sum(counts[k].values()) or 1) for o in OUTCOMES]
                       for k in CLASSES])  # fmt: skip
    paper = mpl.colors.LinearSegmentedColormap.from_list("paper", [PAPER, OURS])
    axis.imshow(shares, cmap=paper, vmin=0, vmax=1, aspect="auto")
    for y, kind in enumerate(CLASSES):
        for x, outcome in enumerate(OUTCOMES):
            wrong = not figures.right(kind, outcome) and counts[kind][outcome] > 0
            axis.text(x, y - 0.06, f"{shares[y, x]:.0%}", ha="center", va="center", size=15,
                      color=PAPER if shares[y, x] > 0.55 else TARGET if wrong else INK)  # fmt: skip
            axis.text(x, y + 0.22, str(counts[kind][outcome]), ha="center", va="center", size=9,
                      color=PAPER if shares[y, x] > 0.55 else FAINT)  # fmt: skip
    axis.set_xticks(range(len(OUTCOMES)), OUTCOMES)
    axis.set_yticks(range(len(CLASSES)), CLASSES)
    axis.set_xticks(np.arange(len(OUTCOMES) - 1) + 0.5, minor=True)
    axis.set_yticks(np.arange(len(CLASSES) - 1) + 0.5, minor=True)
    axis.grid(which="minor", color=PAPER, lw=3)
    _label_axis(axis, "What it was, and what it was taken for", "verdict of the first pause "
                "(red: the wrong thing is done)", "")  # fmt: skip
    axis.tick_params(which="both", length=0)
    for side in axis.spines.values():
        side.set_visible(False)


def _pauses(axis: Axes, found: InterruptionFindings) -> None:
    """False pauses an hour of talking, by condition."""
    names = found.conditions("pauses")[::-1]
    for y, name in enumerate(names):
        silences = found.silences(name)
        seconds = sum(r.talked_s for _, r in silences)
        rate = figures.hourly_rate(sum(len(r.pauses) for _, r in silences), seconds)
        limit = PAUSE_LIMITS.get(name)
        colour = FAINT if limit is None else OURS if rate.value <= limit else ARTICLE
        axis.barh(y, rate.value, color=colour, height=0.55)
        axis.plot([rate.low, rate.high], [y, y], color=INK, lw=1.1)
        if limit is not None:
            axis.plot([limit, limit], [y - 0.38, y + 0.38], color=TARGET, lw=2.2)
        died = sum(len(r.died_s) for _, r in silences)
        note = f"{rate.value:.1f}" + (f", {died} self-interruptions" if died else "")
        axis.text(max(rate.high, limit or 0), y, f"  {note}", va="center", size=9, color=INK)
    axis.set_yticks(range(len(names)), names)
    axis.set_xscale("symlog", linthresh=1.0, linscale=0.5)
    axis.set_xlim(0, max(100.0, axis.get_xlim()[1]) * 8)
    axis.set_xticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
    _label_axis(
        axis, "Pauses for nothing, while nobody speaks", "an hour of talking (red: the goal)", ""
    )


def _calibration(axis: Axes, found: InterruptionFindings) -> None:
    """Calibration: the stated probability of an interruption against its frequency."""
    bins, error = figures.reliability(found.trials())
    axis.plot([0, 100], [0, 100], color=FAINT, lw=0.8, ls=":")
    most = max((b.n for b in bins), default=1)
    axis.scatter([100 * b.said for b in bins], [100 * b.found for b in bins], color=OURS, alpha=0.8,
                 s=[30 + 400 * b.n / most for b in bins], lw=0)  # fmt: skip
    axis.plot([100 * b.said for b in bins], [100 * b.found for b in bins], color=OURS, lw=1.0)
    axis.text(4, 94, f"mean error {error:.3f}", size=9.5, color=INK, va="top")
    axis.set_xlim(-2, 102)
    axis.set_ylim(-2, 102)
    _label_axis(axis, "As sure as it should be? (opinions at 300 ms)", "it said: % an interruption",
                "it was, in % of them")  # fmt: skip


def _any(trials: list[InterruptionTrial]) -> bool:
    return bool(trials)


DrawPanel = Callable[["Axes", InterruptionFindings], None]
PANELS: dict[str, tuple[DrawPanel, Callable[[InterruptionFindings], bool]]] = {
    "stop": (_stop, lambda found: _any(figures.stops(found.trials(QUIET.name)))),
    "stop_processes": (
        _stop_live,
        lambda found: _any(figures.stops(found.live.get(QUIET.name, []))),
    ),
    "pauses": (_pauses, lambda found: bool(found.conditions("pauses"))),
    "trade_off": (_trade_off, lambda found: _any(found.trials())),
    "over_time": (_over_time, lambda found: _any(found.trials())),
    "confusion": (_confusion, lambda found: _any(found.trials())),
    "calibration": (_calibration, lambda found: bool(figures.reliability(found.trials())[0])),
}


def _legend(axis: Axes, place: Literal["upper right", "lower right"]) -> None:
    axis.legend(loc=place, frameon=False, fontsize=9, labelcolor=INK)


def _label_axis(axis: Axes, title: str, x_label: str, y_label: str) -> None:
    axis.set_facecolor(PAPER)
    axis.set_title(title, loc="left", color=INK, size=12.5, pad=12)
    axis.set_xlabel(x_label, color=INK, size=9.5)
    axis.set_ylabel(y_label, color=INK, size=9.5)
    axis.tick_params(colors=INK, labelsize=9)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axis.spines[side].set_color(FAINT)
