"""Findings of the interruption bench, selected by condition, device and room."""

from __future__ import annotations

from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import ECHO, QUIET
from lab.bench.interruption_trials import JobResult
from tests.lab.bench.findings import OVER, job


def test_trials_are_those_over_the_box_by_the_requested_device(
    found: InterruptionFindings,
) -> None:
    assert found.trials() == OVER
    assert found.trials("quiet") == OVER
    assert found.trials("echo") == []
    (article,) = found.trials(by="article")
    assert article.yielded


def test_trials_of_one_room_are_not_those_of_another(found: InterruptionFindings) -> None:
    (place,) = {job.place.name for job, _ in found.done if job.part == "over"}
    assert found.trials(room=place) == OVER
    assert found.trials(room="another") == []


def test_a_silence_is_a_job_without_sounds(found: InterruptionFindings) -> None:
    ((silence, result),) = found.silences(ECHO.name)
    assert silence.part == "pauses"
    assert len(result.pauses) == 2
    assert found.silences(QUIET.name) == []
    assert found.silences(ECHO.name, by="article") == []


def test_conditions_are_in_the_planned_order() -> None:
    found = InterruptionFindings()
    found.done = [
        (job("pauses", QUIET, seed=2), JobResult([])), (job("pauses", ECHO, seed=1), JobResult([])),
        (job("pauses", QUIET, seed=3), JobResult([])), (job("over", QUIET, seed=0), JobResult([])),
    ]  # fmt: skip
    assert found.conditions("pauses") == [ECHO.name, QUIET.name]
    assert found.conditions("seam") == []
