"""The room without clocks: what the box plays, when it stops, when it goes on."""

from __future__ import annotations

import numpy as np

from appliance.hear.pipeline import HearingEvent
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import load_defaults
from lab.bench.simulated_room import LAG_BLOCKS, EchoSimulator, RoomSession, SimulatedBox

STEP, MS = 80, 16
SETTINGS = load_defaults()
SILENCE = np.zeros(RATE_HZ, np.int16)
NO_ECHO = EchoSimulator(np.zeros(0, np.float32))


def talk(seconds: float) -> Samples:
    """Each sample of it is another."""
    made: Samples = (1000 + np.arange(round(seconds * RATE_HZ)) % 20_000).astype(np.int16)
    return made


class Scripted:
    """An ear that says what it was told to, each at its step."""

    def __init__(self, script: dict[int, list[HearingEvent]]) -> None:
        self.script = script
        self.answering: bool | None = None
        self.told: list[bool | None] = []

    def process(self, mic: Samples, played: Samples, index: int) -> list[HearingEvent]:
        self.told.append(self.answering)
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


def test_without_an_echo_nothing_comes_back() -> None:
    assert not NO_ECHO.process(np.full(640, 999, np.int16)).any()


def test_an_undisturbed_box_plays_its_talk_from_its_first_sample() -> None:
    said = talk(2)
    played = run(SimulatedBox(said, SETTINGS, Scripted({})), 1.0)
    lead = LAG_BLOCKS * STEP
    assert not played[:lead].any()
    assert np.array_equal(played[lead + 100 : 15_000], said[100 : 15_000 - lead])


def test_it_wakes_up_with_its_opening_and_then_waits_to_be_asked() -> None:
    opening = np.full(RATE_HZ, 77, np.int16)
    ear = Scripted({})
    played = run(SimulatedBox(talk(30), SETTINGS, ear, asked=2 * RATE_HZ, opening=opening), 3.0)
    first, lead = LAG_BLOCKS * STEP, STEP
    assert (played[first + lead : first + RATE_HZ - lead] == 77).all()
    assert not played[first + RATE_HZ + lead : 2 * RATE_HZ].any()
    assert played[2 * RATE_HZ + 2 * STEP :].any()
    assert (ear.told[0], ear.told[300], ear.told[-1]) == (True, False, True)


def test_an_interruption_ends_the_opening() -> None:
    opening = np.full(RATE_HZ, 77, np.int16)
    ear = Scripted({20: [Onset(1, 0, True)], 60: [Verdict(1, "interruption", 200)]})
    played = run(SimulatedBox(talk(30), SETTINGS, ear, opening=opening), 3.0)
    assert not played[30 * STEP :].any()


def test_it_is_silent_12_ms_after_an_onset_and_goes_on_from_the_same_sample() -> None:
    onset, verdict = Onset(1, 0, True), Verdict(1, "backchannel", 300)
    box = SimulatedBox(talk(30), SETTINGS, Scripted({200: [onset], 260: [verdict]}))
    played = run(box, 2.0)
    decided = 201 * STEP
    assert box.events[0] == (decided, onset)
    assert box.stops == [decided + 12 * MS]
    silent = box.stops[0]
    assert played[silent - 4] != 0
    again = (261 + LAG_BLOCKS) * STEP
    assert not played[silent:again].any()
    ramp = SETTINGS.card.ramp_ms * MS
    before = int(played[silent - ramp - 1])  # its talk counts up, the faded samples too
    assert played[again + ramp] == before + 1 + ramp + ramp
    assert box.yields == []


def test_after_an_interruption_it_waits_until_the_owner_has_spoken() -> None:
    ear = Scripted({
        200: [Onset(1, 0, True)],
        240: [Verdict(1, "interruption", 200), SpeechStarted(1, 1, 0)],
        500: [SpeechEnded(1, 0, 9000, last=True)],
    })  # fmt: skip
    box = SimulatedBox(talk(30), SETTINGS, ear)
    played = run(box, 4.0)
    assert box.yields == [241 * STEP]
    ended = 501 * STEP
    assert not played[box.stops[0] : ended + 590 * MS].any()
    assert played[ended + 620 * MS : ended + 700 * MS].all()
    assert ear.told[100] is True
    assert ear.told[300] is False
    assert ear.told[-1] is True


def test_an_interruption_that_was_followed_by_no_word_does_not_silence_it_for_ever() -> None:
    ear = Scripted({200: [Onset(1, 0, True)], 240: [Verdict(1, "interruption", 200)]})
    played = run(SimulatedBox(talk(30), SETTINGS, ear), 7.0)
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
