"""The tables: a row for what was measured, none for what was not, and whether a goal was met."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from appliance.hear.bargein.recordings import RecordingKind
from lab.bench import interruption_details as details
from lab.bench import interruption_pictures as pictures
from lab.bench import interruption_tables as tables
from lab.bench.benches import FigureTable
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_live import as_trial
from lab.bench.interruption_plan import ECHO, QUIET, TELEVISION, RoomCondition, TrialJob, place
from lab.bench.interruption_trials import FalsePause, InterruptionTrial, JobResult, SynthesisedNoise


def job(part: str, condition: RoomCondition, by: str = "ours", seed: int = 1) -> TrialJob:
    specs = (
        (SynthesisedNoise("clap", 1),)
        if part == "over" or (by == "article" and condition is QUIET)
        else ()
    )
    return TrialJob(part, by, condition.name, place(condition, (0.2, 1001)), specs, 60.0, seed)  # type: ignore[arg-type]  # the test's own words


def trial(kind: RecordingKind, verdict: str | None, **fields: Any) -> InterruptionTrial:
    usual: dict[str, Any] = {"real": True, "clear": True, "length_ms": 400.0, "stop_ms": 20.0}
    opinions = ((100, 0.2, 0.7, 0.1), (300, 0.3, 0.6, 0.1))
    return InterruptionTrial(f"{verdict}/anna_0", kind, verdict=verdict, opinions=opinions,
    age_ms=300,
                 **usual | fields)  # fmt: skip


OVER = [trial("interruption", "interruption")] * 9 + [trial("interruption", "backchannel")]
OVER += [trial("backchannel", "backchannel")] * 8 + [trial("backchannel", "interruption")] * 2
OVER += [trial("noise", "noise")]


@pytest.fixture
def found() -> InterruptionFindings:
    made = InterruptionFindings()
    made.done = [
        (job("over", QUIET), JobResult(OVER, talked_s=100)),
        (job("pauses", ECHO, seed=2), JobResult([], [FalsePause(3.0, "noise")] * 2, 3600.0, [5.0])),
        (job("pauses", TELEVISION, seed=3), JobResult([], [], 1800.0)),
        (job("article", QUIET, "article", 4), JobResult([trial("noise", None, yielded=True)])),
    ]
    made.live = {"quiet": [trial("interruption", None)]}
    made.live_article = {"quiet": [trial("interruption", None, stop_ms=120.0)]}
    made.seam = FigureTable("Seam", ("pauses", "lost", "repeated"), [("7", 0, 1)])
    made.cost_us, made.stages = 500.0, {"echo": 0.5, "the rest": 0.5}
    return made


def line(sheet: FigureTable, group: str, measure: str) -> tuple[Any, ...]:
    return next(row for row in sheet.rows if row[0] == group and str(row[1]).startswith(measure))


def test_the_first_table_says_for_each_goal_whether_it_is_met(found: InterruptionFindings) -> None:
    sheet = tables.summary(found)
    assert line(sheet, "stop: quiet", "processes: p50")[2] == "20.0 ms"
    assert line(sheet, "stop: quiet", "offline: p50")[-2:] == ("≤ 35 ms", "met")
    assert line(sheet, "self-interruptions", "echo 0 dB; 60 min")[2:] == (
        "1", "0.0–5.6 an hour", 1, "0", "not met",
    )  # fmt: skip
    assert line(sheet, "false pauses", "quiet")[2] == "2.0 an hour"
    assert line(sheet, "false pauses", "quiet")[-1] == "not met"
    assert line(sheet, "false pauses", "television")[-1] == "met"
    assert line(sheet, "verdict", "balanced")[2] == "0.850"
    assert line(sheet, "verdict", "interruptions resumed")[2:] == (
        "10.0 %", "1.8–40.4", 10, "≤ 2 %", "not met",
    )  # fmt: skip
    assert line(sheet, "verdict", "backchannels resumed")[-1] == "met"
    assert line(sheet, "verdict", "latency: longest")[-1] == "met"
    assert line(sheet, "seam", "samples lost")[-1] == "met"
    assert line(sheet, "seam", "samples repeated")[-1] == "not met"
    assert line(sheet, "cost", "hearing")[-1] == "not met"


def test_what_was_not_measured_has_no_row() -> None:
    assert tables.summary(InterruptionFindings()).rows == []
    assert details.by_room(InterruptionFindings()) == details.verdicts(InterruptionFindings()) == []
    assert details.article(InterruptionFindings()) == details.cost(InterruptionFindings()) == []


def test_a_television_is_no_silence_in_which_the_box_could_interrupt_itself(
    found: InterruptionFindings,
) -> None:
    groups = [row[1] for row in tables.summary(found).rows if row[0] == "self-interruptions"]
    assert groups == ["echo 0 dB; 60 min, 1 rooms"]


def test_the_article_stands_beside_ours(found: InterruptionFindings) -> None:
    (sheet,) = details.article(found)
    rows = {(row[0], row[1]): row for row in sheet.rows}
    assert rows["quiet", "ours"][2] == "20.0"
    assert rows["quiet*", "article"][2] == "120"
    assert rows["quiet", "article"][-1] == "100.0"


def test_the_worst_clips_are_named_with_their_words(found: InterruptionFindings) -> None:
    sheets = details.worst(found, 1)
    assert [sheet.title for sheet in sheets] == [
        "Interruptions resumed: 1; the 1 worst", "Backchannels yielded to: 2; the 1 worst",
    ]  # fmt: skip
    assert sheets[0].rows[0][0] == "backchannel/anna_0"
    assert "backchannel 1 of 9" in sheets[0].notes[0]
    assert details.worst(found, 0) == []


@pytest.mark.parametrize(
    ("target", "value", "said"),
    [(tables.Target("≤ 2", 2), 2.0, "met"), (tables.Target("≤ 2", 2), 2.1, "not met"),
     (tables.Target("≥ 2", 2, at_least=True), 2.0, "met"),
     (tables.Target("≥ 2", 2, at_least=True), 1.9, "not met"),
     (tables.Target("≤ 2", 2), math.nan, "–")],
)  # fmt: skip
def test_a_goal_is_met_at_its_limit_and_unknown_without_a_figure(
    target: tables.Target, value: float, said: str
) -> None:
    assert target.met(value) == said


def test_an_event_of_the_processes_is_read_as_a_trial() -> None:
    event = {"by": "ours", "word": "real", "name": "stop/anna_0", "click": True,
             "left_out": "", "missed": False, "last_ms": 21.5, "decided_ms": 9.0}  # fmt: skip
    read = as_trial(event)
    assert (read.real, read.clear, read.stop_ms) == (True, False, 21.5)
    assert as_trial(event | {"missed": True, "last_ms": None}).missed


def test_every_picture_is_drawn_and_one_of_all(found: InterruptionFindings, tmp_path: Path) -> None:
    (note,) = pictures.draw(found, tmp_path / "new")
    names = {path.stem for path in (tmp_path / "new").glob("*.png")}
    assert names == {*pictures.PANELS, "interruption"}
    assert str(tmp_path) in note


def test_without_figures_there_is_no_picture(tmp_path: Path) -> None:
    assert pictures.draw(InterruptionFindings(), tmp_path) == [
        "No picture: nothing to draw was measured."
    ]
    assert list(tmp_path.iterdir()) == []
