"""The room without clocks: what the box plays, when it stops, and when it resumes."""

from __future__ import annotations

import numpy as np

from appliance.hear.pipeline import HearingEvent
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import load_defaults
from lab.bench.simulated_room import (
    LAG_BLOCKS,
    YIELD_FRAMES,
    EchoSimulator,
    RoomSession,
    SimulatedBox,
)

STEP, MS = 80, 16
SETTINGS = load_defaults()
SILENCE = np.zeros(RATE_HZ, np.int16)
NO_ECHO = EchoSimulator(np.zeros(0, np.float32))


def talk(seconds: float) -> Samples:
    """A ramp, so that each sample is different."""
    samples: Samples = (1000 + np.arange(round(seconds * RATE_HZ)) % 20_000).astype(np.int16)
    return samples


class ScriptedHearing:
    """A hearing pipeline that returns scripted events at their steps."""

    def __init__(self, script: dict[int, list[HearingEvent]]) -> None:
        self.script = script
        self.answering: bool | None = None
        self.answering_log: list[bool | None] = []

    def process(self, mic: Samples, played: Samples, index: int) -> list[HearingEvent]:
        self.answering_log.append(self.answering)
        return self.script.get(index // STEP, [])


def run(box: SimulatedBox, seconds: float) -> Samples:
    session = RoomSession(box, NO_ECHO, SILENCE, round(seconds * RATE_HZ))
    while not session.ended:
        session.advance()
    return session.played


def test_an_echo_is_the_convolution_40_ms_late() -> None:
    response = np.random.default_rng(1).standard_normal(1500).astype(np.float32)
    played = np.random.default_rng(2).integers(-3000, 3000, 6400).astype(np.int16)
    echo = EchoSimulator(response)
    arrived = np.concatenate([echo.process(played[at : at + 640]) for at in range(0, 6400, 640)])
    wanted = np.convolve(played.astype(float), response)[:6400]
    assert np.allclose(arrived, wanted, atol=0.1)


def test_without_an_echo_the_echo_is_silence() -> None:
    assert not NO_ECHO.process(np.full(640, 999, np.int16)).any()


def test_an_undisturbed_box_plays_its_talk_from_the_first_sample() -> None:
    speech = talk(2)
    played = run(SimulatedBox(speech, SETTINGS, ScriptedHearing({})), 1.0)
    lead = LAG_BLOCKS * STEP
    assert not played[:lead].any()
    assert np.array_equal(played[lead + 100 : 15_000], speech[100 : 15_000 - lead])


def test_the_box_plays_its_opening_and_then_waits_for_a_question() -> None:
    opening = np.full(RATE_HZ, 77, np.int16)
    hearing = ScriptedHearing({})
    played = run(SimulatedBox(talk(30), SETTINGS, hearing, asked=2 * RATE_HZ, opening=opening), 3.0)
    first, lead = LAG_BLOCKS * STEP, STEP
    assert (played[first + lead : first + RATE_HZ - lead] == 77).all()
    assert not played[first + RATE_HZ + lead : 2 * RATE_HZ].any()
    assert played[2 * RATE_HZ + 2 * STEP :].any()
    assert (hearing.answering_log[0], hearing.answering_log[300], hearing.answering_log[-1]) == (
        True,
        False,
        True,
    )


def test_an_interruption_ends_the_opening() -> None:
    opening = np.full(RATE_HZ, 77, np.int16)
    hearing = ScriptedHearing({20: [Onset(1, 0, True)], 60: [Verdict(1, "interruption", 200)]})
    played = run(SimulatedBox(talk(30), SETTINGS, hearing, opening=opening), 3.0)
    assert not played[30 * STEP :].any()


def test_the_box_is_silent_12_ms_after_an_onset_and_resumes_at_the_same_sample() -> None:
    onset, verdict = Onset(1, 0, True), Verdict(1, "backchannel", 300)
    box = SimulatedBox(talk(30), SETTINGS, ScriptedHearing({200: [onset], 260: [verdict]}))
    played = run(box, 2.0)
    decided = 201 * STEP
    assert box.events[0] == (decided, onset)
    assert box.stops == [decided + 12 * MS]
    silent = box.stops[0]
    assert played[silent - 4] != 0
    resumed = (261 + LAG_BLOCKS) * STEP
    assert not played[silent:resumed].any()
    ramp = SETTINGS.card.ramp_ms * MS
    before = int(played[silent - ramp - 1])  # the ramp continues during the faded samples
    assert played[resumed + ramp] == before + 1 + ramp + ramp
    assert box.yields == []


def test_after_an_interruption_the_box_waits_for_the_end_of_the_owners_speech() -> None:
    hearing = ScriptedHearing({
        200: [Onset(1, 0, True)],
        240: [Verdict(1, "interruption", 200), SpeechStarted(1, 1, 0)],
        500: [SpeechEnded(1, 0, 9000, last=True)],
    })  # fmt: skip
    box = SimulatedBox(talk(30), SETTINGS, hearing)
    played = run(box, 4.0)
    assert box.yields == [241 * STEP + YIELD_FRAMES]
    ended = 501 * STEP
    assert not played[box.stops[0] : ended + 590 * MS].any()
    assert played[ended + 620 * MS : ended + 700 * MS].all()
    assert hearing.answering_log[100] is True
    assert hearing.answering_log[300] is False
    assert hearing.answering_log[-1] is True


def test_an_answer_that_was_kept_goes_on_at_its_sample_if_the_verdict_is_taken_back() -> None:
    hearing = ScriptedHearing({
        200: [Onset(1, 0, True)],
        240: [Verdict(1, "interruption", 200), SpeechStarted(1, 1, 0)],
        350: [Verdict(1, "backchannel", 750), SpeechEnded(1, 0, 0, last=True)],
    })  # fmt: skip
    speech = talk(30)
    box = SimulatedBox(speech, SETTINGS, hearing)
    played = run(box, 3.0)
    assert box.yields == []
    silent, resumed = box.stops[0], 351 * STEP + LAG_BLOCKS * STEP
    assert not played[silent:resumed].any()
    first = silent - LAG_BLOCKS * STEP
    assert np.array_equal(
        played[resumed + 100 : resumed + 4000], speech[first + 100 : first + 4000]
    )


def test_a_short_call_ends_the_answer_at_its_own_end() -> None:
    hearing = ScriptedHearing({
        200: [Onset(1, 0, True)],
        240: [Verdict(1, "interruption", 200), SpeechStarted(1, 1, 0)],
        300: [SpeechEnded(1, 0, 6000, last=True)],
    })  # fmt: skip
    box = SimulatedBox(talk(30), SETTINGS, hearing)
    run(box, 3.0)
    assert box.yields == [301 * STEP]


def test_after_an_interruption_without_speech_the_box_talks_again() -> None:
    hearing = ScriptedHearing({200: [Onset(1, 0, True)], 240: [Verdict(1, "interruption", 200)]})
    played = run(SimulatedBox(talk(30), SETTINGS, hearing), 7.0)
    assert not played[3 * RATE_HZ : 4 * RATE_HZ].any()
    assert played[6 * RATE_HZ :].any()


def test_a_distorting_loudspeaker_is_not_linear_and_a_linear_one_is() -> None:
    heard = []
    for drive in (0.0, 3.0):
        session = RoomSession(
            SimulatedBox(talk(2), SETTINGS), NO_ECHO, SILENCE, RATE_HZ, drive=drive
        )
        heard.append(session._saturated(np.array([1000, 20_000], np.int16)))
    assert heard[0].tolist() == [1000, 20_000]
    assert heard[1][1] / heard[1][0] < 12
