"""The bench's table of moments: played, written, judged by hotato, counted."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.pcm import RATE_HZ, Samples
from appliance.settings import load_defaults
from lab.bench import interruption_moments
from lab.bench.interruption_findings import InterruptionFindings
from lab.bench.interruption_plan import ECHO, QUIET, TrialJob, place, plan
from lab.bench.interruption_trials import InterruptionTrial, JobResult, TrialRoom, play
from lab.bench.simulated_room import SimulatedBox
from lab.sim import people
from lab.sim.people import Moment
from tests import skips
from tests.lab.bench.findings import trial
from tests.lab.sim.test_hotato_judge import two_channels
from tests.lab.sim.test_people import a_voice

SHARED_MOMENTS = people.SHARED / "conversations" / "moments"


def a_moment(name: str = "ami-en2002b-take-1", *, yields: bool = True) -> Moment:
    """A voice of 1 s after 2 s of silence, in 5 s."""
    voice = a_voice(1.0)[4800:-4800]
    wave = np.concatenate([np.zeros(2 * RATE_HZ), voice, np.zeros(2 * RATE_HZ)])
    channels = np.stack([wave, wave]).astype(np.float32)
    limit_s = 1.0 if yields else None
    expected = {"yield": yields, "max_time_to_yield_sec": limit_s, "max_talk_over_sec": limit_s}
    source, who = ("calls", "vapi") if name.startswith("vapi") else ("meetings", name.split("-")[1])
    return Moment(source, who, name, "ours", channels, 2 * RATE_HZ, expected)


def found(
    moments: list[Moment], tracks: list[Samples], room: tuple[float, int] = (0.2, 1001)
) -> InterruptionFindings:
    job = TrialJob("moments", "ours", QUIET.name, place(QUIET, room), tuple(moments), 60.0, room[1])
    trials: list[InterruptionTrial] = [trial("interruption", "interruption", yielded=True)]
    return InterruptionFindings(done=[(job, JobResult(trials * len(tracks), tracks=tracks))])


def test_a_moment_is_right_if_the_box_did_what_it_should() -> None:
    gives_way, goes_on = two_channels((2.2, 7.0)), two_channels()
    call, murmur = a_moment(), a_moment("ami-en2002b-bc-1", yields=False)
    totals, sheet = interruption_moments.tables(found([call, murmur], [gives_way, goes_on]))
    assert [row[6] for row in sheet.rows] == ["right", "right"]
    assert {row[3:5] for row in sheet.rows} == {("give way", "give way"), ("go on", "go on")}
    assert totals.rows[0][4:6] == ("2 of 2", "2 of 2")
    totals, sheet = interruption_moments.tables(found([murmur, call], [gives_way, goes_on]))
    assert [row[6] for row in sheet.rows] == ["wrong", "wrong"]
    assert "0.35 s" in sheet.notes[0]


def test_a_moment_that_was_not_played_counts_as_wrong() -> None:
    moments = [a_moment(), a_moment("ami-en2002b-take-2")]
    totals, sheet = interruption_moments.tables(found(moments, [two_channels((2.2, 7.0))]))
    assert [row[4] for row in sheet.rows] == ["give way", "not played"]
    assert totals.rows[0][4] == "1 of 2"


def test_a_moment_counts_for_the_goal_if_it_is_right_in_every_room() -> None:
    both = found([a_moment()], [two_channels((2.2, 7.0))])
    both.done += found([a_moment()], [two_channels()], (0.4, 1002)).done
    [row] = interruption_moments.tables(both)[0].rows
    assert row[3:7] == (2, "1 of 2", "0 of 1", "≥ 12 not met")


def test_a_row_says_whose_sounds_they_are_and_which_were_trained_with() -> None:
    names = ("ami-es2002a-bc-1", "ami-en2002b-bc-1", "vapi-default-01-x")
    moments = [a_moment(name, yields=False) for name in names]
    totals, _ = interruption_moments.tables(found(moments, [two_channels()] * 3))
    whose = {row[1]: row[2] for row in totals.rows}
    assert whose["calls"] == "one caller"
    assert whose["meetings"] == "meetings en2002b, es2002a (in its training)"


def test_the_two_channel_files_stay_in_a_named_folder(tmp_path: Path) -> None:
    tracks = two_channels()
    interruption_moments.tables(found([a_moment()], [tracks]), tmp_path / "made")
    [file] = (tmp_path / "made").iterdir()
    assert file.name == "ami-en2002b-take-1, quiet, RT60 0.2 s.wav"
    assert np.array_equal(soundfile.read(file, dtype="int16")[0], tracks)


def test_without_hotato_the_table_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hotato", None)
    [sheet] = interruption_moments.tables(found([a_moment()], [two_channels()]))
    assert sheet.rows == []
    assert "make setup" in sheet.notes[0]


def test_without_moments_there_is_no_table(tmp_path: Path) -> None:
    assert people.moments(tmp_path) == []
    assert interruption_moments.tables(InterruptionFindings()) == []


def test_moments_are_planned_in_quiet_and_with_echo_and_change_no_other_job() -> None:
    without = plan("quick", [], 1)
    jobs = plan("quick", [], 1, moments=[a_moment()] * 20)
    assert [job.seed for job in jobs[: len(without)]] == [job.seed for job in without]
    mine = jobs[len(without) :]
    assert {job.part for job in mine} == {"moments"}
    assert {job.condition for job in mine} == {QUIET.name, ECHO.name}
    assert sum(len(job.specs) for job in mine) == 40


@pytest.mark.long
def test_a_moment_is_played_over_the_box_and_both_tracks_are_kept() -> None:
    moment = a_moment()
    box = SimulatedBox(np.tile(np.array([4000, -4000], np.int16), 40), load_defaults())
    room = TrialRoom("RT60 0.2 s", 0.2, 1001, None)
    result = play(box, room, np.zeros(1600, np.int16), (moment,), 1, 24.0)
    [tracks], [one] = result.tracks, result.trials
    assert (one.source, one.who, one.recording) == ("meetings", "en2002b", moment.recording)
    assert tracks.shape == (5 * RATE_HZ, 2)
    person, played = np.abs(tracks.T.astype(int))
    assert person[: 2 * RATE_HZ - 800].max() < 10
    assert person[2 * RATE_HZ : 3 * RATE_HZ].max() > 1000
    assert played[: 2 * RATE_HZ].max() == 4000
    assert one.stop_ms is not None
    silent = 2 * RATE_HZ + round(one.stop_ms * RATE_HZ / 1000)
    assert played[silent + 80 : silent + 1600].max() == 0  # the pause at the person's onset


@pytest.mark.skipif(not SHARED_MOMENTS.is_dir(), reason=skips.RECORDINGS)
def test_the_moments_are_fifteen_of_calls_and_thirteen_of_meetings() -> None:
    moments = people.moments()
    kinds = [(moment.source, moment.kind) for moment in moments]
    assert kinds.count(("calls", "interruption")) == 11
    assert kinds.count(("calls", "backchannel")) == 4
    assert kinds.count(("meetings", "interruption")) == 6
    assert kinds.count(("meetings", "backchannel")) == 7
