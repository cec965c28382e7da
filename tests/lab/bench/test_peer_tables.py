"""The tables of systems beside each other, of invented results."""

from __future__ import annotations

from typing import Any

import pytest

from lab.bench.benches import FigureTable
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import ECHO, QUIET
from lab.bench.interruption_trials import FalsePause, InterruptionTrial, JobResult
from lab.bench.peer_tables import stopped_at_all, tables
from tests.lab.bench.findings import job, trial


def findings(
    lost: int, obeyed: int = 10, *, pauses: int = 0, stop_ms: float | None = 20.0
) -> InterruptionFindings:
    """Ten murmurs of which `lost` lost the answer, ten calls of which `obeyed` were, an hour."""
    murmurs = [trial("backchannel", None, yielded=n < lost) for n in range(10)]
    calls = [trial("interruption", None, yielded=n < obeyed, stop_ms=stop_ms) for n in range(10)]
    silent = JobResult([], [FalsePause(9.0, "noise")] * pauses, 3600.0, [9.0] * (pauses // 2))
    return InterruptionFindings(
        [(job("over", QUIET), JobResult(murmurs + calls)), (job("pauses", ECHO), silent)]
    )


def rows(sheets: list[FigureTable], title: str) -> list[dict[str, Any]]:
    (sheet,) = [sheet for sheet in sheets if sheet.title.startswith(title)]
    assert all(len(row) == len(sheet.columns) for row in sheet.rows)
    return [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows]


def test_each_system_has_a_row_for_each_room() -> None:
    found = {"interlude": findings(1), "pipecat": findings(9, 8, stop_ms=400.0)}
    ours, theirs = rows(tables(found), "Interrupted")
    assert ours["sounds over the answer"] == "Interlude"
    assert (theirs["sounds over the answer"], theirs["room"]) == ("pipecat", "quiet")
    assert (ours["stop p50"], theirs["p95"]) == ("20 ms", "400 ms")
    assert (ours["answer lost in the end"], theirs["answer lost in the end"]) == ("10 %", "90 %")
    assert (ours["murmurs"], theirs["calls"]) == (10, 10)
    assert theirs["obeyed in the end"] == "80 %"


def test_a_murmur_is_no_stop() -> None:
    murmur = trial("backchannel", None, stop_ms=1.0)
    found = InterruptionFindings([(job("over", QUIET), JobResult([murmur]))])
    (row,) = rows(tables({"livekit": found}), "Interrupted")
    assert (row["calls timed"], row["stop p50"], row["stopped at all"]) == (0, "–", "–")


def test_a_late_stop_is_never_but_a_stop_after_all() -> None:
    (row,) = rows(tables({"livekit": findings(0, 10, stop_ms=None)}), "Interrupted")
    assert (row["stop p50"], row["stopped at all"]) == ("never", "100 %")


@pytest.mark.parametrize(
    ("fields", "share"),
    [
        ({"stop_ms": 900.0}, 1.0),
        ({"stop_ms": None, "yielded": True}, 1.0),
        ({"stop_ms": None, "resumes": 1}, 1.0),
        ({"stop_ms": None}, 0.0),
    ],
)
def test_a_pause_and_a_drop_are_both_stops(fields: dict[str, Any], share: float) -> None:
    only: list[InterruptionTrial] = [trial("interruption", None, **fields)]
    assert stopped_at_all(only).value == share


def test_pauses_and_losses_are_an_hour_of_talking() -> None:
    (row,) = rows(tables({"pipecat": findings(0, pauses=4)}), "Nobody speaks")
    assert (row["nobody speaking"], row["room"]) == ("pipecat", "echo 0 dB")
    assert (row["min"], row["talked, min"]) == (1.0, 60.0)
    assert (row["paused an hour"], row["answers lost an hour"]) == ("4.0", "2.0")
    assert row["95 %"]


@pytest.mark.parametrize(
    ("others", "best", "verdict"),
    [
        ({"pipecat": 5, "livekit": 3}, "livekit", "met"),
        ({"pipecat": 2, "livekit": 9}, "pipecat", "not met"),
        # These ignore single words, or their recogniser writes no murmur down.
        ({"pipecat": 4, "livekit-perfect": 0, "pipecat-words": 0, "livekit-words": 1},
         "pipecat", "met"),
    ],
)  # fmt: skip
def test_the_goal_is_against_the_best_that_obeys_single_words(
    others: dict[str, int], best: str, verdict: str
) -> None:
    found = {"interlude": findings(2), **{name: findings(n) for name, n in others.items()}}
    (row,) = rows(tables(found), "Goal")
    assert (row["room"], row["whose"], row[""]) == ("quiet", best, verdict)
    assert row["murmurs that lost Interlude's answer"] == "20.0 %"


@pytest.mark.parametrize("names", [("interlude",), ("pipecat",), ("interlude", "livekit-words")])
def test_without_both_sides_there_is_no_goal(names: tuple[str, ...]) -> None:
    titles = [sheet.title for sheet in tables({name: findings(1) for name in names})]
    assert len(titles) == 2
    assert not any(title.startswith("Goal") for title in titles)


def test_without_results_there_is_no_table() -> None:
    assert tables({"interlude": InterruptionFindings()}) == []


def test_each_trial_is_in_the_events_with_its_system() -> None:
    (over, _) = tables({"pipecat": findings(3)})
    assert len(over.events) == 20
    assert {event["system"] for event in over.events} == {"pipecat"}
    assert sum(event["yielded"] for event in over.events) == 13
