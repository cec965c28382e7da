"""The tables of `interlude bench peers`: each system in each room, from the same trials. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from lab.bench import interruption_figures as figures
from lab.bench.benches import FigureTable
from lab.bench.interruption_figures import Figure
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_tables import hourly, ms, percent
from lab.bench.interruption_trials import InterruptionTrial
from lab.bench.peer_systems import SYSTEMS, System

OURS = "interlude"
Found = Mapping[str, InterruptionFindings]  # key of SYSTEMS → its results
Row = tuple[str | float, ...]

OVER_NOTE = (
    "Stop: first sample of a call → last audible sample; of calls whose onset is known to the "
    "sample, over an audible answer; later than 1 s counts as never. Stopped at all: paused or "
    "dropped the answer by 1.6 s after the call. Lost and obeyed: the answer was dropped by then, "
    "whatever came before. 95 %: Wilson's interval; trials of one speaker or room are not "
    "independent, so it is a little narrow."
)
SILENT_NOTE = (
    "An hour of talking. Paused: every stop, also one that is taken back. After a lost answer the "
    "owner asks a program again after 6.5 s of silence."
)


def tables(found: Found) -> list[FigureTable]:
    """The tables for which there are results."""
    return [sheet for sheet in (_over(found), _silent(found), _goal(found)) if sheet.rows]


def stops(trials: list[InterruptionTrial]) -> list[InterruptionTrial]:
    """The calls with a measurable stop."""
    return [trial for trial in figures.stops(trials) if trial.kind == "interruption"]


def stopped_at_all(trials: list[InterruptionTrial]) -> Figure:
    """The share of calls after which the answer was paused or dropped."""
    hits = sum(t.stop_ms is not None or t.yielded or t.resumes > 0 for t in trials)
    return figures.portion(hits, len(trials))


def _over(found: Found) -> FigureTable:
    columns = ("sounds over the answer", "room", "calls timed", "stop p50", "p95",
               "stopped at all", "95 %", "murmurs", "answer lost in the end", "95 %",
               "calls", "obeyed in the end", "95 %")  # fmt: skip
    sheet = FigureTable("Interrupted, beside other programs", columns, names=2)
    for condition in _conditions(found, "over"):
        for name, results in found.items():
            trials = results.trials(condition)
            if not trials:
                continue
            timed = stops(trials)
            lost = figures.lost(trials, "backchannel")
            obeyed = figures.lost(trials, "interruption")
            times = (_ms(figures.stop_percentile(timed, of)) for of in (50, 95))
            sheet.rows.append((SYSTEMS[name].title, condition, len(timed), *times,
                               *_share(stopped_at_all(timed)), lost.n, *_share(lost),
                               obeyed.n, *_share(obeyed)))  # fmt: skip
            sheet.events += [
                {"system": name, "condition": job.condition, "room": job.place.name, **vars(trial)}
                for job, result in results.done
                if job.part == "over" and job.condition == condition
                for trial in result.trials
            ]
    sheet.notes.append(OVER_NOTE)
    return sheet


def _silent(found: Found) -> FigureTable:
    columns = ("nobody speaking", "room", "min", "talked, min", "paused an hour", "95 %",
               "answers lost an hour", "95 %")  # fmt: skip
    sheet = FigureTable("Nobody speaks over the answer", columns, names=2)
    for condition in _conditions(found, "pauses"):
        for name, results in found.items():
            done = results.silences(condition)
            if not done:
                continue
            lasted_s = sum(job.seconds for job, _ in done)
            talked_s = sum(result.talked_s for _, result in done)
            paused = figures.hourly_rate(sum(len(r.pauses) for _, r in done), talked_s)
            lost = figures.hourly_rate(sum(len(r.died_s) for _, r in done), talked_s)
            minutes = (round(lasted_s / 60, 1), round(talked_s / 60, 1))
            sheet.rows.append((SYSTEMS[name].title, condition, *minutes,
                               *_rate(paused), *_rate(lost)))  # fmt: skip
    sheet.notes.append(SILENT_NOTE)
    return sheet


def _goal(found: Found) -> FigureTable:
    """Whether Interlude loses fewer answers to murmurs than every program that a word interrupts,
    its recogniser not being a perfect one."""
    columns = ("room", "murmurs that lost Interlude's answer", "fewest of the others", "whose", "")
    sheet = FigureTable("Goal: fewer answers lost to murmurs than of any other program that obeys "
                        "single words", columns)  # fmt: skip
    others = [name for name in found if _rival(SYSTEMS[name])]
    for condition in _conditions(found, "over"):
        lost = {
            name: figures.lost(found[name].trials(condition), "backchannel").value
            for name in (OURS, *others)
            if name in found
        }
        lost = {name: value for name, value in lost.items() if not math.isnan(value)}
        rivals = [name for name in lost if name != OURS]
        if OURS not in lost or not rivals:
            continue
        best = min(rivals, key=lambda name: lost[name])
        met = "met" if lost[OURS] < lost[best] else "not met"
        sheet.rows.append((condition, f"{percent(lost[OURS])} %", f"{percent(lost[best])} %",
                           SYSTEMS[best].title, met))  # fmt: skip
    return sheet


def _rival(system: System) -> bool:
    return bool(system.program) and system.single_words and system.writes_murmurs


def _conditions(found: Found, part: str) -> list[str]:
    named = [name for results in found.values() for name in results.conditions(part)]
    return list(dict.fromkeys(named))


def _ms(figure: Figure) -> str:
    text = ms(figure.value)
    return text if text in ("–", "never") else f"{figure.value:.0f} ms"


def _share(figure: Figure) -> tuple[str, str]:
    if not figure.n:
        return ("–", "")
    return (f"{100 * figure.value:.0f} %", f"{100 * figure.low:.0f}–{100 * figure.high:.0f}")


def _rate(figure: Figure) -> tuple[str, str]:
    text = hourly(figure.value)
    return (text, "" if text == "–" else f"{hourly(figure.low)}–{hourly(figure.high)}")
