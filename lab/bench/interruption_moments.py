"""The interruption bench's table of moments of calls and meetings, judged by hotato's own scorer.

In: the two tracks of each moment: its person, and what the box played. Out: hotato's judgement of
each, and how many are right; the two-channel files, if a folder is named.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from appliance.pcm import RATE_HZ, Samples
from lab.bench.benches import FigureTable
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import TrialJob
from lab.bench.interruption_tables import Target
from lab.bench.interruption_trials import InterruptionTrial
from lab.sim import hotato_judge
from lab.sim.division import part_of
from lab.sim.hotato_judge import Judgement
from lab.sim.people import Moment

TARGETS = {
    "calls": Target("≥ 15", 15, at_least=True),
    "meetings": Target("≥ 12", 12, at_least=True),
}
TITLE = "Moments of calls and meetings over the box, judged by hotato (offline)"
COLUMNS = ("condition", "moment", "room", "truth", "hotato", "after, s", "",
           "first verdict", "in the end")  # fmt: skip
TOTALS = ("condition", "moments of", "whose", "rooms", "right", "right in every room", "")


@dataclass(frozen=True)
class JudgedMoment:
    """A moment in one room; `judgement` and `trial` are None if it was not played."""

    condition: str
    room: str
    moment: Moment
    judgement: Judgement | None
    trial: InterruptionTrial | None

    @property
    def right(self) -> bool:
        return self.judgement is not None and self.judgement.right


def tables(found: InterruptionFindings, folder: Path | None = None) -> list[FigureTable]:
    """The totals, then each moment. `folder`: where the two-channel files stay; None: nowhere.
    Raises StorageError."""
    if not any(job.part == "moments" for job, _ in found.done):
        return []
    if not hotato_judge.is_installed():
        return [FigureTable(TITLE, COLUMNS, notes=[hotato_judge.MISSING], names=2)]
    with tempfile.TemporaryDirectory() as nowhere:
        judged = list(_judged(found, folder or Path(nowhere)))
    order = list(dict.fromkeys(one.condition for one in judged))
    judged.sort(key=lambda one: (order.index(one.condition), one.moment.name, one.room))
    sheet = FigureTable(TITLE, COLUMNS, [_row(one) for one in judged], names=2)
    sheet.notes += [
        hotato_judge.thresholds(),
        "The times that a moment allows are its own. To hotato a pause is giving way if it is that "
        "long, even if the box goes on after it, and so is a gap in what the box says.",
    ]
    return [_totals(judged), sheet]


def _judged(found: InterruptionFindings, folder: Path) -> Iterator[JudgedMoment]:
    for job, result in sorted(found.done, key=lambda one: one[0].seed):
        if job.part != "moments":
            continue
        played = dict(enumerate(zip(result.tracks, result.trials, strict=True)))
        for number, moment in enumerate(job.specs):
            assert isinstance(moment, Moment)
            tracks, trial = played.get(number, (None, None))
            judgement = None if tracks is None else _judgement(job, moment, tracks, folder)
            yield JudgedMoment(job.condition, job.place.name, moment, judgement, trial)


def _judgement(job: TrialJob, moment: Moment, tracks: Samples, folder: Path) -> Judgement:
    file = folder / f"{moment.recording}, {job.condition}, {job.place.name}.wav"
    return hotato_judge.judge(file, tracks, moment.onset / RATE_HZ, moment.expected)


def _row(one: JudgedMoment) -> tuple[str | float, ...]:
    name = one.moment.recording.removeprefix("vapi-default-").removeprefix("ami-")  # for width
    start = (one.condition, name, one.room, _did(one.moment.kind == "interruption"))
    if one.judgement is None or one.trial is None:
        return (*start, "not played", "", "wrong", "", "")
    after_s, trial = one.judgement.after_s, one.trial
    verdict = "no pause" if trial.verdict is None else f"{trial.verdict}, {trial.age_ms} ms"
    return (*start, _did(one.judgement.yielded), "–" if after_s is None else f"{after_s:.2f}",
            "right" if one.right else "wrong", verdict,
            "dropped" if trial.yielded else "went on")  # fmt: skip


def _did(gave_way: bool) -> str:
    return "give way" if gave_way else "go on"


def _totals(judged: list[JudgedMoment]) -> FigureTable:
    sheet = FigureTable(f"{TITLE}: totals", TOTALS, names=2)
    for condition in dict.fromkeys(one.condition for one in judged):
        for source, target in TARGETS.items():
            mine = [one for one in judged
                    if one.condition == condition and one.moment.source == source]  # fmt: skip
            if not mine:
                continue
            names, rooms = {one.moment.name for one in mine}, {one.room for one in mine}
            always = len(names - {one.moment.name for one in mine if not one.right})
            right = f"{sum(one.right for one in mine)} of {len(mine)}"
            sheet.rows.append((condition, source, _whose([one.moment for one in mine]), len(rooms),
                               right, f"{always} of {len(names)}",
                               f"{target.text} {target.met(always)}"))  # fmt: skip
    return sheet


def _whose(moments: list[Moment]) -> str:
    """Whose sounds they are, and which of them the network of murmurs was trained with."""
    if moments[0].source == "calls":
        return "one caller"
    roles = {moment.who: part_of("meetings", moment.who)[0] for moment in moments}
    return "meetings " + ", ".join(
        who if role == "held-out" else f"{who} (in its training)"
        for who, role in sorted(roles.items())
    )
