"""The interruption bench's table of people in conversation: murmurs and calls not made for it.

In: the folder `shared` beside the checkout. Out: the sounds of the test's people, and a table of
what became of the answer. Intervals draw people, or recordings of one person.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from appliance.errors import RecordingError
from appliance.hear.bargein.recordings import RecordingKind
from lab.bench import intervals
from lab.bench.benches import FigureTable
from lab.bench.interruption_figures import Figure, outcome
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_tables import Target, percent
from lab.bench.interruption_trials import InterruptionTrial
from lab.sim import people
from lab.sim.people import Clip

WAKE_PHRASES = 24  # of a wake phrase: speech that is no murmur
UNNAMED = "wake words"  # each file is another person, who has no name
# (title, class, sources)
ROWS: tuple[tuple[str, RecordingKind, tuple[str, ...]], ...] = (
    ("murmurs", "backchannel", ("murmurs", "meetings", "calls")),
    ("murmurs of meetings", "backchannel", ("murmurs", "meetings")),
    ("murmurs of calls", "backchannel", ("calls",)),
    ("calls to the box and starts of talk", "interruption", ("meetings", "calls", "wake words")),
    ("floor-takes and talk of meetings", "interruption", ("meetings",)),
    ("floor-takes of calls", "interruption", ("calls",)),
    ("wake phrases", "interruption", ("wake words",)),
)
AT_ONCE = {
    ("murmurs", "quiet"): Target("≥ 80 %", 0.8, at_least=True),
    ("murmurs", "echo 0 dB"): Target("≥ 72 %", 0.72, at_least=True),
    ("calls to the box and starts of talk", "quiet"): Target("≤ 2 %", 0.02),
}
IN_THE_END = {("murmurs", "quiet"): Target("≥ 95 %", 0.95, at_least=True)}


def heard(shared: Path = people.SHARED) -> list[Clip]:
    """The sounds over the box of the test's people; none if the recordings are not there."""
    try:
        clips = people.recorded(shared)
    except RecordingError:
        return []
    held_out = [clip for clip in clips if clip.role == "held-out" and clip.kind != "noise"]
    phrases = [clip for clip in held_out if clip.source == UNNAMED][:WAKE_PHRASES]
    return phrases + [clip for clip in held_out if clip.source in ("murmurs", "meetings", "calls")]


def tables(found: InterruptionFindings) -> list[FigureTable]:
    """How often the answer went on, at once and in the end, for each condition and sound."""
    columns = ("condition", "sound of people over the box", "sounds", "people", "recordings",
               "rooms", "goes on at once", "95 %", "", "in the end", "95 %", "")  # fmt: skip
    sheet = FigureTable("People in conversation, over the box (offline)", columns, names=2)
    for condition in found.conditions("people"):
        trials = found.people(condition)
        rooms = {job.place.name for job, _ in found.done
                 if job.part == "people" and job.condition == condition}  # fmt: skip
        for title, kind, sources in ROWS:
            mine = [t for t in trials if t.kind == kind and t.source in sources]
            if not mine:
                continue
            who = {t.who for t in mine if t.source != UNNAMED}
            unnamed = len({t.recording for t in mine if t.source == UNNAMED})
            counts = (len(mine), len(who) + unnamed, len({t.recording for t in mine}), len(rooms))
            targets = [of.get((title, condition)) for of in (AT_ONCE, IN_THE_END)]
            at_once = share([outcome(t) != "interruption" for t in mine], mine)
            in_the_end = share([not t.yielded for t in mine], mine)
            sheet.rows.append((condition, title, *counts,
                               *_cells(at_once, targets[0]),
                               *_cells(in_the_end, targets[1])))  # fmt: skip
    sheet.notes.append(
        "Nobody here made these sounds, and nothing was trained or tuned on them. A sound without "
        "a pause counts as going on. Intervals draw people, or recordings if there is one person."
    )
    return [sheet] if sheet.rows else []


def share(hits: Sequence[bool], trials: Sequence[InterruptionTrial]) -> Figure:
    """The share of `hits`, with an interval over people, or over recordings of one person."""
    who = [t.recording if t.source == UNNAMED else t.who for t in trials]
    units = who if len(set(who)) > 1 else [t.recording for t in trials]
    low, high = intervals.over_groups([float(hit) for hit in hits], units)
    return Figure(sum(hits) / len(hits), low, high, len(hits))


def _cells(figure: Figure, target: Target | None) -> tuple[str, str, str]:
    wanted = f"{target.text} {target.met(figure.value)}" if target else ""
    return (f"{percent(figure.value)} %", f"{percent(figure.low)}–{percent(figure.high)}", wanted)
