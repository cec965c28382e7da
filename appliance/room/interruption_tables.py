"""The first table of the interruption bench: the figures to reach, found and wanted. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from appliance.room import interruption_figures as figures
from appliance.room.benches import Sheet
from appliance.room.interruption_figures import Figure
from appliance.room.interruption_findings import Findings
from appliance.room.interruption_plan import ECHO, KITCHEN, QUIET, SNR_DB, TELEVISION_DB
from appliance.room.trials import Trial

PAUSE_LIMITS = {  # an hour
    ECHO.name: 1.0,
    f"kitchen noise at {SNR_DB:.0f} dB SNR": 20.0,
    f"television at −{-TELEVISION_DB:.0f} dB": 40.0,
}
Row = tuple[str | float, ...]
COLUMNS = ("measure", "found", "95 %", "n", "target", "")


@dataclass(frozen=True)
class Target:
    """At most, or at least, so much; `text` is how it is written."""

    text: str
    limit: float
    at_least: bool = False

    def met(self, value: float) -> str:
        if math.isnan(value):
            return "–"
        return "met" if (value >= self.limit) == self.at_least or value == self.limit \
            else "not met"  # fmt: skip


def most_ms(limit: float) -> Target:
    return Target(f"≤ {limit:g} ms", limit)


def most(limit: float) -> Target:
    return Target(f"≤ {limit:.0%}", limit)


def least(limit: float) -> Target:
    text = f"≥ {limit:.2f}" if limit in (0.92, 0.85) else f"≥ {limit:.0%}"
    return Target(text, limit, at_least=True)


def ms(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "never" if value >= 1e8 else f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms"


def percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1%}"


def plain(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def hourly(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f} an hour"


def row(
    measure: str, figure: Figure, shown: Callable[[float], str], target: Target | None = None
) -> Row:
    """One line of the first table; nothing at all for what was not measured."""
    between = f"{shown(figure.low)} – {shown(figure.high)}".replace(" an hour –", " –")
    between = between.replace(" ms –", " –") if "never" not in between else between
    wanted = ("", "") if target is None else (target.text, target.met(figure.value))
    return (measure, shown(figure.value), "" if math.isnan(figure.value) else between,
            figure.n, *wanted)  # fmt: skip


def summary(found: Findings) -> Sheet:
    """The table of the figures to reach."""
    sheet = Sheet("Being interrupted: the figures to reach", COLUMNS)
    for rows in (_stops, _selves, _pauses, _verdicts, _seam, _cost):
        sheet.rows += rows(found)
    sheet.notes += [
        "Processes: the whole box on the software sound card, at the pace of a clock. Offline: its "
        "ear alone, faster than that, in rooms of RT60 0.2, 0.4 and 0.7 s; the rest of the box is "
        "a delay of 12 ms. dB are against an owner of −26 dBFS at the microphone. "
        "docs/interruption.md tells how each is measured.",
    ]
    if found.dropouts:
        sheet.notes.append(f"Dropouts of ours: {'; '.join(found.dropouts)}.")
    return sheet


def _stops(found: Findings) -> list[Row]:
    rows: list[Row] = []
    targets: dict[tuple[str, float], float] = {
        ("quiet", 50): 35, ("quiet", 95): 70, ("quiet", 99): 82,
        ("echo as loud as the owner", 50): 45,
    }  # fmt: skip
    for condition in (QUIET, ECHO, KITCHEN):
        for where, trials in (("processes", found.live.get(condition.name, [])),
                              ("offline", found.trials(condition.name))):  # fmt: skip
            known = figures.stops(trials)
            if condition is ECHO and any(t.real for t in known):
                known = [t for t in known if t.real]
            if not known:
                continue
            words = "" if not all(t.real for t in known) else ", real words"
            name = f"stop, {condition.name}{words}, {where}"
            for of in (50, 95, 99):
                limit = targets.get((condition.name, of))
                target = None if limit is None else most_ms(limit)
                rows.append(row(f"{name}: p{of}", figures.late(known, of), ms, target))
            for within_ms in (150, 300):
                due = least(0.95) if condition is ECHO and within_ms == 300 else None
                share = figures.within(known, within_ms)
                rows.append(row(f"{name}: within {within_ms} ms", share, percent, due))
    return rows


def _selves(found: Findings) -> list[Row]:
    rows: list[Row] = []
    for condition in found.conditions("pauses"):
        if "noise" in condition or "television" in condition:
            continue
        done = found.silences(condition)
        seconds = sum(result.talked_s for _, result in done)
        seen = sum(len(result.died_s) for _, result in done)
        rooms = len({job.place.name for job, _ in done})
        measure = f"self-interruptions in {seconds / 60:.0f} min, {rooms} rooms, {condition}"
        low, high = (f"{bound:.1f}" for bound in _an_hours(seen, seconds))
        target = Target("0", 0)
        rows.append((measure, str(seen), f"{low} – {high} an hour", seen, "0", target.met(seen)))
    return rows


def _an_hours(seen: int, seconds: float) -> tuple[float, float]:
    figure = figures.an_hour(seen, seconds)
    return figure.low, figure.high


def _pauses(found: Findings) -> list[Row]:
    rows = []
    for condition, limit in PAUSE_LIMITS.items():
        done = found.silences(condition)
        if not done:
            continue
        rate = figures.an_hour(
            sum(len(r.pauses) for _, r in done), sum(r.talked_s for _, r in done)
        )
        quiet = "quiet room, echo as loud as the owner" if condition == ECHO.name else condition
        name = f"false pauses, {quiet}"
        rows.append(row(name, rate, hourly, Target(f"≤ {limit:g} an hour", limit)))
    return rows


def _verdicts(found: Findings) -> list[Row]:
    trials = found.trials()
    if not trials:
        return []
    resumed = figures.taken_for(trials, "interruption", ("backchannel", "noise"))
    missed = figures.taken_for(trials, "interruption", ("no pause",))
    kept = figures.taken_for(trials, "backchannel", ("backchannel", "noise", "no pause"))
    yielded = figures.taken_for(trials, "backchannel", ("interruption",))
    noisy = figures.taken_for(trials, "noise", ("interruption",))
    bins, error = figures.reliability(trials)
    latencies = sorted(figures.latencies(trials))
    rows = [
        row("verdict: balanced accuracy of speech, final", figures.accuracy(trials, None), plain,
            least(0.92)),
        row("verdict: balanced accuracy of speech, at 300 ms", figures.accuracy(trials, 300),
            plain, least(0.85)),
        row("verdict: balanced accuracy of three classes, final",
            figures.accuracy(trials, None, "three"), plain),
        row("verdict: balanced accuracy of three classes, at 300 ms",
            figures.accuracy(trials, 300, "three"), plain),
        row("interruptions wrongly resumed", resumed, percent, most(0.02)),
        row("interruptions that did not even pause it", missed, percent),
        row("backchannels resumed", kept, percent, least(0.80)),
        row("backchannels wrongly yielded to", yielded, percent),
        row("noises wrongly yielded to", noisy, percent),
    ]  # fmt: skip
    if latencies:
        half = figures.late([_timed(v) for v in latencies], 50)
        rows.append(row("verdict latency: p50", half, ms, most_ms(350)))
        longest = Figure(latencies[-1], latencies[-1], latencies[-1], len(latencies))
        line = row("verdict latency: longest", longest, ms, most_ms(700))
        rows.append((*line[:2], "", *line[3:]))
    if bins:
        n = sum(b.n for b in bins)
        rows.append(("calibration error at 300 ms (ECE)", plain(error), "", n, "", ""))
    return rows


def _timed(value: float) -> Trial:
    return Trial("", "interruption", real=False, clear=True, length_ms=0, stop_ms=value)


def _seam(found: Findings) -> list[Row]:
    if found.seam is None or not found.seam.rows:
        return []
    count, lost, repeated = found.seam.rows[0][:3]
    return [
        (f"seam: samples {name}, processes", str(value), "", count, "0", Target("0", 0).met(
            float(value)))
        for name, value in (("lost", lost), ("repeated", repeated))
    ]  # fmt: skip


def _cost(found: Findings) -> list[Row]:
    if found.cost_us is None:
        return []
    share = found.cost_us / 5000
    target = Target("≤ 8 %", 0.08)
    return [("cost: echo, onset, VAD, verdict; of one core", percent(share), "", 1, target.text,
             target.met(share))]  # fmt: skip
