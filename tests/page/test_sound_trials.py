"""Sound trials as the page follows them: one at a time, and each one ends."""

from __future__ import annotations

import msgspec
import pytest

from appliance.messages.commands import StateChanged
from appliance.messages.trying import (
    EchoMeasured,
    EndTrial,
    SoundRecorded,
    SoundRecording,
    TrialRefused,
)
from appliance.page.sound_trials import LONGEST_S, SoundTrials


def state(name: str) -> StateChanged:
    return StateChanged(name, 1, 0)  # type: ignore[arg-type]  # one of its names


def begun() -> SoundTrials:
    trials = SoundTrials()
    assert trials.begin("tone", 100.0) is not None
    return trials


def test_a_tone_is_under_way_from_the_request_to_its_last_sample() -> None:
    trials = begun()
    assert trials.handle(state("speaking"), 100.2) == [{"k": "trial", "phase": "playing"}]
    assert trials.handle(state("holding"), 101.0) == []
    assert trials.under_way
    assert trials.handle(state("idle"), 106.0) == [{"k": "trial", "phase": "done"}]
    assert not trials.under_way


def test_a_second_trial_is_refused_until_the_first_is_over() -> None:
    trials = begun()
    assert trials.begin("tone", 100.1) is None
    trials.handle(TrialRefused(trials.number, "busy"), 100.2)
    again = trials.begin("tone", 100.3)
    assert again is not None
    assert again.number == trials.number


def test_a_refusal_counts_only_for_its_own_trial() -> None:
    trials = begun()
    assert trials.handle(TrialRefused(trials.number - 1, "busy"), 100.1) == []
    assert trials.handle(TrialRefused(trials.number, "no-voice"), 100.2)
    assert (trials.phase, trials.why) == ("refused", "no-voice")
    assert trials.handle(TrialRefused(trials.number, "busy"), 100.3) == [], "the trial has ended"
    assert trials.why == "no-voice"


def test_a_missing_answer_ends_the_trial() -> None:
    trials = begun()
    assert trials.expire(100.0 + LONGEST_S["asked"]) == []
    assert trials.expire(100.1 + LONGEST_S["asked"])
    assert (trials.phase, trials.why) == ("refused", "no-answer")


RECORDED = SoundRecorded(0, -12.0, -20.0, -60.0, -70.0, 0, 0.0, played=True)


def recorded(trials: SoundTrials, **changes: object) -> SoundRecorded:
    return msgspec.structs.replace(RECORDED, number=trials.number, **changes)


def test_the_microphone_is_recorded_then_played_and_its_levels_stay() -> None:
    trials = SoundTrials()
    trials.begin("microphone", 100.0)
    phases = []
    for message in (
        SoundRecording(trials.number, on=True),
        SoundRecording(trials.number, on=False),
        recorded(trials),
        state("speaking"),
        state("idle"),
    ):
        trials.handle(message, 101.0)
        phases.append(trials.phase)
    assert phases == ["recording", "recording", "recorded", "playing", "done"]
    assert trials.recorded == recorded(trials)
    trials.begin("tone", 110.0)
    assert trials.recorded is not None
    trials.handle(TrialRefused(trials.number, "busy"), 110.0)
    trials.begin("microphone", 120.0)
    assert trials.recorded is None


def test_a_silent_recording_ends_without_being_played() -> None:
    trials = SoundTrials()
    trials.begin("microphone", 100.0)
    trials.handle(recorded(trials, played=False), 103.0)
    assert trials.phase == "done"


def test_speech_of_the_box_during_the_recording_is_not_taken_for_its_playback() -> None:
    trials = SoundTrials()
    trials.begin("microphone", 100.0)
    trials.handle(SoundRecording(trials.number, on=True), 100.0)
    assert trials.handle(state("speaking"), 101.0) == []


def test_the_measured_echo_stays_until_the_next_echo_trial() -> None:
    trials = begun()
    measured = EchoMeasured(trials.number, (), 6.0, 0, 0, "works")
    assert trials.handle(msgspec.structs.replace(measured, number=1), 106.0) == []
    trials.handle(state("speaking"), 100.0)
    trials.handle(state("idle"), 106.0)
    assert trials.handle(measured, 106.8) == [{"k": "trial", "phase": "done"}]
    assert trials.echo == measured
    trials.begin("microphone", 110.0)
    assert trials.echo == measured
    trials.refuse("busy", 110.0)
    trials.begin("echo", 120.0)
    assert trials.echo is None


def test_an_unwatched_trial_is_ended_once() -> None:
    trials = begun()
    number = trials.number
    assert trials.abandon(101.0) == EndTrial(number)
    assert trials.abandon(102.0) is None


@pytest.mark.parametrize("late_s", [LONGEST_S["playing"] + 0.1, 86_400.0])
def test_a_lost_message_does_not_block_the_next_trial(late_s: float) -> None:
    trials = begun()
    trials.handle(state("speaking"), 100.0)
    assert trials.begin("tone", 100.0 + late_s) is not None
