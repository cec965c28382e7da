"""A resume lasts: what is left of a sound that had its verdict pauses nothing."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.pipeline import HearingPipeline
from appliance.messages.hearing import Onset, Verdict
from appliance.settings import HearingSettings
from tests import skips
from tests.hear.arena import (
    ANSWER,
    RECORDINGS,
    Room,
    Run,
    Wave,
    at_level,
    impulse_response,
    say,
    track,
    words,
)

MS = 16
AGAIN = 300 * MS  # a pause so soon after a resume is at the same sound
QUIET_DB = -70.0  # a quiet room's noise: the end of a word stands out for long


def resumes(result: Run) -> list[int]:
    return [at for at, verdict in result.of(Verdict) if verdict.kind != "interruption"]


def paused_again(result: Run) -> list[int]:
    """The resumes that another pause followed within `AGAIN`."""
    pauses = [at for at, onset in result.of(Onset) if onset.speaking]
    return [at for at in resumes(result) if any(at <= pause <= at + AGAIN for pause in pauses)]


def over_an_answer(settings: HearingSettings, sounds: list[Wave]) -> Run:
    """The sounds over a talking box, with the reverberation of a living room."""
    response = impulse_response(seed=5, rt60_s=0.4, delay_ms=0)
    wet = [np.convolve(at_level(sound), response) for sound in sounds]
    owner, _ = track(wet, lead_s=9, gap_s=2.5)
    answer = at_level(np.tile(say(ANSWER), 1 + len(owner) // (20 * 16_000)), -20)
    room = Room(HearingPipeline(settings), answer=answer, echo_db=-60.0)
    return room.hear(owner, noise_db=QUIET_DB)


@pytest.mark.process
@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=skips.RECORDINGS)
def test_the_end_of_a_recorded_murmur_does_not_pause_again(settings: HearingSettings) -> None:
    sounds = [sound for word in ("right", "yes") for sound in words(word, 5)]
    result = over_an_answer(settings, sounds)
    assert len(resumes(result)) >= len(sounds) // 2
    assert paused_again(result) == []


@pytest.mark.process
def test_the_end_of_a_synthetic_murmur_does_not_pause_again(settings: HearingSettings) -> None:
    phrases = ("[[m'mh'm]]", "right", "oh really", "yeah yeah", "uh huh")
    result = over_an_answer(settings, [say(phrase) for phrase in phrases])
    assert len(resumes(result)) >= 2
    assert paused_again(result) == []


@pytest.mark.process
def test_a_word_soon_after_a_resume_is_detected(talking_for_7_s: Room) -> None:
    hum = at_level(say("[[m'mh'm]]"))
    owner, _ = track([hum], lead_s=0.5, gap_s=2)
    [resumed, *_] = resumes(talking_for_7_s.copied().hear(owner, seed=1))
    start = resumed - 7 * 16_000 + 100 * MS
    owner = np.concatenate([owner[:start], at_level(say("stop that now please")), np.zeros(16_000)])
    result = talking_for_7_s.hear(owner, seed=1)
    detected = [at for at, onset in result.of(Onset) if at > resumed]
    assert detected[0] - (7 * 16_000 + start) < 150 * MS
