"""The bench's table of people: whose sounds they are, and what became of the answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from appliance.settings import load_defaults
from lab.bench import interruption_people
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import QUIET, TrialJob, plan
from lab.bench.interruption_trials import InterruptionTrial, JobResult, TrialRoom, play
from lab.bench.simulated_room import SimulatedBox
from lab.sim import people
from lab.sim.people import Clip
from tests.lab.bench.findings import job, trial
from tests.lab.sim.test_people import a_voice, shared


def a_clip(who: str, kind: str = "backchannel", source: str = "murmurs") -> Clip:
    wave = people.cut(a_voice(), 4800, 11200)
    assert wave is not None
    return Clip(kind, "yeah", source, who, who, f"{who}_1", "ours", "held-out", wave, narrow=False)  # type: ignore[arg-type]  # kinds of the test


def of(who: str, verdict: str | None, *, yielded: bool) -> InterruptionTrial:
    made = trial("backchannel", verdict, yielded=yielded)
    return replace(made, source="murmurs", who=who, recording=f"{who}_1")


def found(trials: list[InterruptionTrial]) -> InterruptionFindings:
    return InterruptionFindings(done=[(job("people", QUIET), JobResult(trials, talked_s=60))])


def test_a_row_says_how_many_people_recordings_and_rooms_stand_behind_it() -> None:
    trials = [of("a", "backchannel", yielded=False), of("a", "interruption", yielded=False),
              of("b", "interruption", yielded=True), of("b", None, yielded=False)]  # fmt: skip
    [sheet] = interruption_people.tables(found(trials))
    murmurs = sheet.rows[0]
    assert murmurs[:6] == ("quiet", "murmurs", 4, 2, 2, 1)
    assert murmurs[6] == "50.0 %"
    assert murmurs[8] == "≥ 80 % not met"
    assert murmurs[9] == "75.0 %"


def test_these_sounds_are_in_no_other_table() -> None:
    some = found([of("a", "backchannel", yielded=False)])
    assert not some.trials()
    assert len(some.people("quiet")) == 1


def test_an_interval_draws_people_not_sounds() -> None:
    trials = [of("a", "backchannel", yielded=False)] * 50
    trials += [of("b", "interruption", yielded=True)] * 50
    figure = interruption_people.share([t.verdict == "backchannel" for t in trials], trials)
    assert (figure.value, figure.low, figure.high, figure.n) == (0.5, 0.0, 1.0, 100)


def test_only_the_tests_people_are_heard(tmp_path: Path) -> None:
    heard = interruption_people.heard(shared(tmp_path))
    assert {clip.source for clip in heard} == {"wake words", "murmurs"}
    assert {clip.role for clip in heard} == {"held-out"}


def test_without_the_recordings_there_is_no_table(tmp_path: Path) -> None:
    assert interruption_people.heard(tmp_path) == []
    assert interruption_people.tables(InterruptionFindings()) == []


@pytest.mark.parametrize(("events", "each"), [(None, 5), (2, 2)])
def test_each_is_played_in_every_room(events: int | None, each: int) -> None:
    jobs = plan("quick", [], 1, events=events, people=[a_clip(str(i)) for i in range(5)])
    mine: list[TrialJob] = [job for job in jobs if job.part == "people"]
    assert len(mine) == 9
    assert {len({clip.who for clip in job.specs if isinstance(clip, Clip)}) for job in mine} == {
        each
    }


def test_a_trial_knows_whose_sound_it_was() -> None:
    box = SimulatedBox(np.full(80, 8000, np.int16), load_defaults())
    room = TrialRoom("RT60 0.2 s", 0.2, 1001, None)
    result = play(box, room, np.zeros(1600, np.int16), (a_clip("MEE012"),), 1, 14.0)
    [one] = result.trials
    assert (one.source, one.who, one.recording, one.real) == ("murmurs", "MEE012", "MEE012_1", True)
