"""Trials: the results of a sound over the box, and what counts as a false pause."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from appliance.hear.bargein.recordings import RecordingFile
from appliance.hear.pipeline import HearingPipeline
from appliance.messages.hearing import Onset, Opinion, SpeechStarted, Verdict
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import load_defaults
from lab.bench.article_device import ArticleDevice
from lab.bench.interruption_trials import (
    ANSWERED_S,
    ASKED_S,
    JobResult,
    SynthesisedNoise,
    TrialRoom,
    echo_of,
    in_room,
    play,
    through_the_room,
)
from lab.bench.simulated_room import SimulatedBox, TimedEvent
from lab.sim.speech_source import SPEECH_DB
from lab.sim.synthetic_phrases import Phrase

MS = 16
QUIET = TrialRoom("small", 0.2, 1001, None)
SILENCE = np.zeros(RATE_HZ, np.int16)
WAIT = Phrase("interruption", "tell me about the moon instead please", "en-us+f2", 150, 50)


def tone(seconds: float) -> Samples:
    samples: Samples = (6000 * np.sin(np.arange(round(seconds * RATE_HZ)) * 0.2) + 400).astype(
        np.int16
    )
    return samples


class ScriptedDevice:
    """A device that plays a tone and has a scripted list of events."""

    def __init__(self, events: list[TimedEvent], stops: list[int], yields: list[int]) -> None:
        self.events, self.stops, self.yields = events, stops, yields
        self.talking = True

    def play(self, at: int) -> Samples:
        silent = any(stop <= at < stop + RATE_HZ // 2 for stop in self.stops)
        return np.zeros(80, np.int16) if silent else tone(0.005) + 500

    def process(self, mic: Samples, at: int) -> None:
        """Ignore the microphone."""


@pytest.mark.long
def test_a_box_that_is_asked_first_is_silent_until_then() -> None:
    asked = round(ANSWERED_S * RATE_HZ)
    question = Phrase("interruption", "how is bread made", "en-us+f2", 150, 50)
    hearing = HearingPipeline(load_defaults().hearing)
    box = SimulatedBox(tone(30), load_defaults(), hearing, asked=asked)
    result = play(box, QUIET, SILENCE, (), 1, 16.0, question)
    (began_s,) = (t.at / RATE_HZ for t in box.events if isinstance(t.event, SpeechStarted))
    assert ASKED_S < began_s < ASKED_S + 1
    assert 16.0 - ASKED_S - 4 < result.talked_s < 16.0 - ASKED_S - 1
    assert hearing._usual_db == pytest.approx(SPEECH_DB, abs=3)
    assert not result.pauses


def one_sound() -> JobResult:
    return play(SimulatedBox(tone(30), load_defaults()), QUIET, SILENCE, (WAIT,), 1, 14.0)


@pytest.fixture(scope="module")
def result() -> JobResult:
    return one_sound()


@pytest.mark.long
def test_a_sound_over_the_box_is_a_trial_with_stop_opinions_and_verdict(result: JobResult) -> None:
    (trial,) = result.trials
    assert trial.kind == "interruption"
    assert not trial.real
    assert trial.clear
    assert trial.stop_ms is not None
    assert 10 < trial.stop_ms < 100
    assert trial.decided_ms is not None
    assert trial.decided_ms < trial.stop_ms
    assert trial.verdict == "interruption"
    assert trial.yielded
    assert trial.over_ms == pytest.approx(trial.stop_ms, abs=1)  # a single pause
    assert [opinion[0] for opinion in trial.opinions] == sorted(o[0] for o in trial.opinions)
    assert result.pauses == []
    assert result.died_s == []
    assert 8 < result.talked_s < 14


@pytest.mark.long
def test_the_same_job_gives_the_same_result(result: JobResult) -> None:
    assert one_sound() == result


def test_the_article_drops_its_answer_at_a_word() -> None:
    (trial,) = play(ArticleDevice(tone(30)), QUIET, SILENCE, (WAIT,), 1, 14.0).trials
    assert trial.yielded
    assert trial.verdict is None


def test_pauses_and_yields_without_a_sound_are_reported_separately() -> None:
    events = [
        TimedEvent(2 * RATE_HZ, Onset(1, 2 * RATE_HZ - 160, True)),
        TimedEvent(2 * RATE_HZ + 2400, Verdict(1, "noise", 150)),
        TimedEvent(3 * RATE_HZ, Onset(2, 3 * RATE_HZ, False)),  # not over the box
    ]
    machine = ScriptedDevice(events, [], [3 * RATE_HZ])
    result = play(machine, QUIET, SILENCE, (), 1, 4.0)
    assert [(p.at_s, p.verdict) for p in result.pauses] == [(2.0, "noise")]
    assert result.died_s == [3.0]
    assert result.trials == []


def test_a_pause_during_a_sound_is_no_false_pause() -> None:
    at = round(8.1 * RATE_HZ)
    events = [
        TimedEvent(at, Onset(1, at - 160, True)),
        TimedEvent(at + 1600, Opinion(1, 100, 0.7, 0.2, 0.1)),
        TimedEvent(at + 4800, Verdict(1, "backchannel", 300)),
    ]
    result = play(
        ScriptedDevice(events, [], []), QUIET, SILENCE, (SynthesisedNoise("cough", 1),), 1, 14.0
    )
    (trial,) = result.trials
    assert (trial.verdict, trial.age_ms) == ("backchannel", 300)
    assert trial.opinions == ((100, 0.7, 0.2, 0.1),)
    assert result.pauses == []
    assert trial.missed


def test_an_unusable_recording_is_reported_and_the_others_are_played(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "anna_0.flac", np.zeros(RATE_HZ), RATE_HZ)
    silent = RecordingFile(tmp_path / "anna_0.flac", "backchannel", "yes")
    result = play(
        ScriptedDevice([], [], []), QUIET, SILENCE, (silent, SynthesisedNoise("clap", 1)), 1, 16.0
    )
    assert [trial.name for trial in result.trials] == ["clap 1"]
    assert result.problems == [f"{tmp_path}/anna_0.flac: is silent."]


def test_the_owners_room_response_begins_at_once_and_has_unit_energy() -> None:
    response = through_the_room(QUIET)
    assert np.argmax(np.abs(response)) == 0
    assert np.sum(np.square(response)) == pytest.approx(1.0, abs=1e-3)
    click = np.zeros(100, np.float32)
    click[7] = 100
    assert not in_room(click, response)[:7].round(3).any()


def test_without_an_echo_level_there_is_no_echo() -> None:
    loud = np.full(640, 9000, np.int16)
    assert not echo_of(QUIET).process(loud).any()
    assert echo_of(TrialRoom("small", 0.2, 1001, -26.0)).process(loud).any()


def test_nothing_is_measured_in_the_first_seconds_of_talking() -> None:
    result = play(
        ScriptedDevice([], [], []), QUIET, SILENCE, (SynthesisedNoise("clap", 1),), 1, 3.0
    )
    assert result == JobResult(talked_s=result.talked_s)
    assert result.talked_s == pytest.approx(3.0, abs=0.05)
