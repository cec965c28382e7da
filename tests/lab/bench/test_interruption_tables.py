"""The tables: rows for the measured values only, and whether each goal is met."""

from __future__ import annotations

import math
from typing import Any

import pytest

from lab.bench import interruption_details as details
from lab.bench import interruption_tables as tables
from lab.bench.benches import FigureTable
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import QUIET
from lab.bench.interruption_trials import JobResult
from tests.lab.bench.findings import job, trial


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


def test_the_first_rows_count_what_was_lost_in_the_end_whatever_the_first_verdict(
    found: InterruptionFindings,
) -> None:
    murmurs = [trial("backchannel", "backchannel", yielded=True, resumes=2, again=1)]
    murmurs += [trial("backchannel", "backchannel", resumes=1)] * 3
    calls = [trial("interruption", "backchannel", yielded=True)]
    found.done = [(job("over", QUIET), JobResult(murmurs + calls, talked_s=100))]
    rows = tables.summary(found).rows
    assert [row[:3] for row in rows[:4]] == [
        ("in the end: quiet", "answers lost to a backchannel", "25.0 %"),
        ("in the end: quiet", "interruptions obeyed", "100.0 %"),
        ("in the end: quiet", "answers lost to a noise", "–"),
        ("in the end: quiet", "resumes, then a pause within 300 ms", "20.0 %"),
    ]


def test_missing_measurements_have_no_row() -> None:
    assert tables.summary(InterruptionFindings()).rows == []
    assert details.by_room(InterruptionFindings()) == details.verdicts(InterruptionFindings()) == []
    assert details.article(InterruptionFindings()) == details.cost(InterruptionFindings()) == []


def test_rooms_with_a_television_are_not_counted_for_self_interruptions(
    found: InterruptionFindings,
) -> None:
    groups = [row[1] for row in tables.summary(found).rows if row[0] == "self-interruptions"]
    assert groups == ["echo 0 dB; 60 min, 1 rooms"]


@pytest.mark.parametrize(
    ("target", "value", "verdict"),
    [(tables.Target("≤ 2", 2), 2.0, "met"), (tables.Target("≤ 2", 2), 2.1, "not met"),
     (tables.Target("≥ 2", 2, at_least=True), 2.0, "met"),
     (tables.Target("≥ 2", 2, at_least=True), 1.9, "not met"),
     (tables.Target("≤ 2", 2), math.nan, "–")],
)  # fmt: skip
def test_a_goal_is_met_at_its_limit_and_unknown_without_a_figure(
    target: tables.Target, value: float, verdict: str
) -> None:
    assert target.met(value) == verdict
