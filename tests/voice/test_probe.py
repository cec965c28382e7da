"""The trial of a voice: it can speak only if it makes a sound in time."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.errors import VoiceError
from appliance.pcm import EMPTY
from appliance.voice.factory import wait_for_trial
from appliance.voice.probe import TRIAL_S, WORD, VoiceTrial
from appliance.voice.program import HUNG_S, START_S
from tests.voice.fakes import FakeVoice

SOUND, SILENCE = np.full(100, 500, np.int16), np.zeros(100, np.int16)


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_voice_that_makes_a_sound_passes_and_its_delay_is_measured() -> None:
    voice, clock = FakeVoice(), Clock()
    voice.script = [[SILENCE, EMPTY, SOUND, None]]
    trial = VoiceTrial(voice, clock)
    trial.poll()
    assert (trial.verdict, trial.first_s, voice.said) == (None, None, [WORD])
    clock.now_s += 0.7
    trial.poll()
    assert trial.verdict == ""
    assert trial.first_s == pytest.approx(0.7)


def test_a_voice_that_makes_only_silence_fails() -> None:
    voice = FakeVoice("mute")
    voice.script = [[SILENCE, SILENCE, None]]
    trial = VoiceTrial(voice, Clock())
    trial.poll()
    assert trial.verdict == "The voice mute made no sound."


def test_the_start_of_a_voice_is_waited_for_and_not_measured() -> None:
    voice, clock = FakeVoice(), Clock()
    voice.ready = False
    trial = VoiceTrial(voice, clock)
    trial.poll()
    assert (trial.verdict, trial.fileno(), voice.said) == (None, -1, [])
    clock.now_s += 5.0
    voice.ready, voice.script = True, [[SOUND, None]]
    trial.poll()
    assert (trial.verdict, trial.first_s) == ("", 0.0)


@pytest.mark.parametrize("problem", ["Its file is damaged."])
def test_the_problem_of_a_voice_is_the_verdict(problem: str) -> None:
    voice = FakeVoice()
    voice.ready, voice.problem = False, problem
    trial = VoiceTrial(voice, Clock())
    trial.poll()
    assert trial.verdict == problem


@pytest.mark.parametrize("when", ["at once", "in the middle"])
def test_an_error_during_the_trial_is_the_verdict(when: str) -> None:
    voice = FakeVoice()
    error = VoiceError("There is no such letter.")
    if when == "at once":
        voice.refuses = error
    else:
        voice.script = [[SOUND, error]]
    trial = VoiceTrial(voice, Clock())
    trial.poll()
    assert trial.verdict == error.problem


@pytest.mark.parametrize("ready", [True, False])
def test_a_hanging_voice_fails_and_its_speech_is_cancelled(ready: bool) -> None:
    voice, clock = FakeVoice(), Clock()
    voice.ready, voice.script = ready, [[EMPTY] * 99]
    trial = VoiceTrial(voice, clock)
    trial.poll()
    clock.now_s += TRIAL_S
    trial.poll()
    early = trial.verdict
    clock.now_s += 1.0
    trial.poll()
    assert early is None
    assert trial.verdict == f"The voice fake said nothing within {TRIAL_S:.0f} s."
    assert all(speech.cancelled for speech in voice.speeches)


def test_the_trial_is_longer_than_a_programs_own_timeouts() -> None:
    assert TRIAL_S >= START_S + HUNG_S


@pytest.mark.parametrize("ready", [True, False])
def test_the_wait_for_a_loading_voice_is_limited(ready: bool) -> None:
    voice = FakeVoice()
    voice.ready, voice.script = ready, [[SOUND, None]]
    verdict = wait_for_trial(VoiceTrial(voice, Clock()), loading_s=0.0)
    assert verdict == ("" if ready else None)


def test_a_voice_that_failed_to_load_is_not_waited_for() -> None:
    voice = FakeVoice()
    voice.ready, voice.problem = False, "Its file is damaged."
    assert wait_for_trial(VoiceTrial(voice, Clock()), loading_s=0.0) == voice.problem
