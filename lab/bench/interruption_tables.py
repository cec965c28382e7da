"""The first table of the interruption bench: measured figures against their targets. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lab.bench import interruption_figures as figures
from lab.bench import intervals
from lab.bench.benches import FigureTable
from lab.bench.interruption_figures import Figure
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import ECHO, KITCHEN, PAUSED_KITCHEN, QUIET, TELEVISION

PAUSE_LIMITS = {ECHO.name: 1.0, PAUSED_KITCHEN.name: 20.0, TELEVISION.name: 40.0}  # an hour
STOP_LIMITS_MS = {
    (QUIET.name, 50): 35.0,
    (QUIET.name, 95): 70.0,
    (QUIET.name, 99): 82.0,
    (ECHO.name, 50): 45.0,
}
Row = tuple[str | float, ...]
COLUMNS = ("", "measure", "found", "95 %", "n", "target", "")


@dataclass(frozen=True)
class Target:
    """An upper or lower limit of a figure; `text` is its printed form."""

    text: str
    limit: float
    at_least: bool = False

    def met(self, value: float) -> str:
        if math.isnan(value):
            return "–"
        return "met" if (value >= self.limit) == self.at_least or value == self.limit \
            else "not met"  # fmt: skip


LOST = {
    QUIET.name: Target("≤ 8 %", 0.08),
    ECHO.name: Target("≤ 8 %", 0.08),
    KITCHEN.name: Target("≤ 10 %", 0.1),
}
OBEYED = Target("≥ 99 %", 0.99, at_least=True)
CAUGHT = Target("≥ 95 %", 0.95, at_least=True)


def ms(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "never" if value >= 1e8 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.1f}"


def plain(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def hourly(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"


UNITS: dict[Callable[[float], str], str] = {
    ms: " ms",
    percent: " %",
    plain: "",
    hourly: " an hour",
}


def shown(value: float, how: Callable[[float], str]) -> str:
    """The value as text, with its unit if it is a number."""
    text = how(value)
    return text if text in ("–", "never") else text + UNITS[how]


def row(
    group: str,
    measure: str,
    figure: Figure,
    how: Callable[[float], str],
    target: Target | None = None,
) -> Row:
    """One row of the first table."""
    known = not math.isnan(figure.value) and figure.low < figure.high
    between = f"{how(figure.low)}–{how(figure.high)}" if known else ""
    wanted = ("", "") if target is None else (target.text, target.met(figure.value))
    return (group, measure, shown(figure.value, how), between, figure.n, *wanted)


def summary(found: InterruptionFindings) -> FigureTable:
    """The table of all figures with targets."""
    sheet = FigureTable("Being interrupted: the figures to reach", COLUMNS, names=2)
    for rows in (_in_the_end, _stops, _selves, _pauses, _verdicts, _seam, _cost):
        sheet.rows += rows(found)
    sheet.notes += [
        "Processes: the real processes on the software sound card, in real time. Offline: the "
        "hearing pipeline alone, faster than real time, in rooms of RT60 0.2 to 0.7 s; the rest of "
        "the box is a delay of 12 ms. dB are against an owner of −26 dBFS at the microphone: an "
        "echo of 0 dB is as loud. docs/benchmarks/interruption.md describes each measurement.",
    ]
    if found.dropouts:
        sheet.notes.append(f"Dropouts of ours: {'; '.join(found.dropouts)}.")
    return sheet


def _in_the_end(found: InterruptionFindings) -> list[Row]:
    """Whether the answer was lost, whatever the first verdict was."""
    rows: list[Row] = []
    for condition in found.conditions("over"):
        trials = found.trials(condition)
        group = f"in the end: {condition}"
        rows += [
            row(group, "answers lost to a backchannel", figures.lost(trials, "backchannel"),
                percent, LOST.get(condition)),
            row(group, "interruptions obeyed", figures.lost(trials, "interruption"),
                percent, OBEYED),
            row(group, "answers lost to a noise", figures.lost(trials, "noise"), percent),
            row(group, "resumes, then a pause within 300 ms", figures.paused_again(trials), percent,
                Target("0", 0)),
        ]  # fmt: skip
    return rows


def _stops(found: InterruptionFindings) -> list[Row]:
    rows: list[Row] = []
    for condition in (QUIET, ECHO, KITCHEN):
        for where, trials in (
            ("processes", found.live.get(condition.name, [])),
            ("offline", found.trials(condition.name)),
        ):
            known = figures.stops(trials)
            if condition is ECHO and any(t.real for t in known):
                known = [t for t in known if t.real]
                where += ", real"
            if not known:
                continue
            group = f"stop: {condition.name}"
            for of in (50, 95, 99):
                limit = STOP_LIMITS_MS.get((condition.name, of))
                target = None if limit is None else Target(f"≤ {limit:g} ms", limit)
                rows.append(
                    row(group, f"{where}: p{of}", figures.stop_percentile(known, of), ms, target)
                )
            for within_ms in (150, 300):
                due = CAUGHT if condition is ECHO and within_ms == 300 else None
                share = figures.share_within(known, within_ms)
                rows.append(row(group, f"{where}: ≤ {within_ms} ms", share, percent, due))
    return rows


def _selves(found: InterruptionFindings) -> list[Row]:
    """Self-interruptions in quiet rooms; noise such as a television's contains speech."""
    rows: list[Row] = []
    for condition in found.conditions("pauses"):
        done = found.silences(condition)
        if any(job.place.noise != "quiet" for job, _ in done):
            continue
        seconds = sum(result.talked_s for _, result in done)
        seen = sum(len(result.died_s) for _, result in done)
        rooms = len({job.place.name for job, _ in done})
        rate = figures.hourly_rate(seen, seconds)
        measure = f"{condition}; {seconds / 60:.0f} min, {rooms} rooms"
        between = f"{rate.low:.1f}–{rate.high:.1f} an hour"
        rows.append(("self-interruptions", measure, str(seen), between, seen, "0",
                     Target("0", 0).met(seen)))  # fmt: skip
    return rows


def _pauses(found: InterruptionFindings) -> list[Row]:
    rows: list[Row] = []
    for condition, limit in PAUSE_LIMITS.items():
        done = found.silences(condition)
        if not done:
            continue
        seconds = sum(result.talked_s for _, result in done)
        rate = figures.hourly_rate(sum(len(result.pauses) for _, result in done), seconds)
        quiet = "quiet, " if condition == ECHO.name else ""
        target = Target(f"≤ {limit:g}", limit)
        rows.append(row("false pauses", f"{quiet}{condition}", rate, hourly, target))
    return rows


def _verdicts(found: InterruptionFindings) -> list[Row]:
    trials = found.trials()
    if not trials:
        return []
    group = "verdict"
    resumed = figures.taken_for(trials, "interruption", ("backchannel", "noise"))
    missed = figures.taken_for(trials, "interruption", ("no pause",))
    kept = figures.taken_for(trials, "backchannel", ("backchannel", "noise", "no pause"))
    yielded = figures.taken_for(trials, "backchannel", ("interruption",))
    noisy = figures.taken_for(trials, "noise", ("interruption",))
    final, early = Target("≥ 0.92", 0.92, at_least=True), Target("≥ 0.85", 0.85, at_least=True)
    rows = [
        row(group, "balanced acc. of speech, final", figures.accuracy(trials, None), plain, final),
        row(group, "the same at 300 ms", figures.accuracy(trials, 300), plain, early),
        row(group, "of three classes, final", figures.accuracy(trials, None, "three"), plain),
        row(group, "the same at 300 ms", figures.accuracy(trials, 300, "three"), plain),
        row(group, "interruptions resumed", resumed, percent, Target("≤ 2 %", 0.02)),
        row(group, "interruptions without a pause", missed, percent),
        row(group, "backchannels resumed", kept, percent, Target("≥ 80 %", 0.8, at_least=True)),
        row(group, "backchannels yielded to", yielded, percent),
        row(group, "noises yielded to", noisy, percent),
    ]
    latencies = sorted(figures.latencies(trials))
    if latencies:
        n = len(latencies)
        half = Figure(float(np.percentile(latencies, 50)), *intervals.percentile(latencies, 50), n)
        longest = Figure(latencies[-1], latencies[-1], latencies[-1], n)
        rows.append(row(group, "latency: p50", half, ms, Target("≤ 350 ms", 350)))
        rows.append(row(group, "latency: longest", longest, ms, Target("≤ 700 ms", 700)))
    bins, error = figures.reliability(trials)
    if bins:
        ece = Figure(error, error, error, sum(b.n for b in bins))
        rows.append(row(group, "calibration error at 300 ms", ece, plain))
    return rows


def _seam(found: InterruptionFindings) -> list[Row]:
    if found.seam is None or not found.seam.rows:
        return []
    count, lost, repeated = found.seam.rows[0][:3]
    return [
        ("seam", f"samples {name}", str(value), "", count, "0", Target("0", 0).met(float(value)))
        for name, value in (("lost", lost), ("repeated", repeated))
    ]


def _cost(found: InterruptionFindings) -> list[Row]:
    if found.cost_us is None:
        return []
    share = found.cost_us / 5000
    whole = Figure(share, share, share, 1)
    return [row("cost", "hearing, of one core", whole, percent, Target("≤ 8 %", 0.08))]
