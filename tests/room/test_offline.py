"""The room without clocks: what the box plays, when it stops, when it goes on."""

from __future__ import annotations

import numpy as np

from appliance.ipc.ring import Samples
from appliance.messages import Onset
from appliance.processes import RATE_HZ
from appliance.room.offline import LAG_STEPS, Box, Echo, Session
from appliance.room.phrases import Phrase, spoken
from appliance.settings import load_defaults

STEP, MS = 80, 16
SETTINGS = load_defaults()
SILENCE = np.zeros(RATE_HZ, np.int16)
NO_ECHO = Echo(np.zeros(0, np.float32))


def talk(seconds: float) -> Samples:
    """Each sample of it is another."""
    made: Samples = (1000 + np.arange(round(seconds * RATE_HZ)) % 20_000).astype(np.int16)
    return made


def burst(frames: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-8000, 8000, frames).astype(np.float32)


def test_an_echo_is_the_convolution_40_ms_late() -> None:
    response = np.random.default_rng(1).standard_normal(1500).astype(np.float32)
    played = np.random.default_rng(2).integers(-3000, 3000, 6400).astype(np.int16)
    echo = Echo(response)
    arrived = np.concatenate([echo.of(played[at : at + 640]) for at in range(0, 6400, 640)])
    wanted = np.convolve(played.astype(float), response)[:6400]
    assert np.allclose(arrived, wanted, atol=0.1)


def test_without_an_echo_nothing_comes_back() -> None:
    assert not NO_ECHO.of(np.full(640, 999, np.int16)).any()


def test_an_undisturbed_box_plays_its_talk_from_its_first_sample() -> None:
    said = talk(2)
    session = Session(Box(said, SETTINGS), NO_ECHO, SILENCE, RATE_HZ)
    while not session.over:
        session.step()
    lead = LAG_STEPS * STEP
    assert not session.played[:lead].any()
    assert np.array_equal(session.played[lead + 100 : 15_000], said[100 : 15_000 - lead])


def test_a_burst_stops_it_12_ms_after_it_was_heard_and_it_goes_on_from_that_sample() -> None:
    said = talk(30)
    box = Box(said, SETTINGS)
    session = Session(box, NO_ECHO, SILENCE, 3 * RATE_HZ)
    at = 2 * RATE_HZ // 2 + 123
    session.say(at, burst(600))
    while not session.over:
        session.step()
    decided = next(timed.at for timed in box.events if isinstance(timed.event, Onset))
    stop = box.stops[0]
    assert at < decided <= at + 20 * MS
    assert stop - decided == 12 * MS
    assert not session.played[stop : stop + 50 * MS].any()
    ramp = SETTINGS.card.ramp_ms * MS
    again = (stop + int(np.flatnonzero(session.played[stop:])[0])) // STEP * STEP
    before = int(session.played[stop - ramp - 1])  # its talk counts up, the faded samples too
    assert session.played[again + ramp] == before + 1 + ramp + ramp
    assert box.yields == []


def test_an_owner_who_goes_on_talking_makes_it_drop_its_answer_and_wait() -> None:
    clip = spoken(Phrase("interruption", "tell me about the moon instead please", "en-us", 150, 50))
    box = Box(talk(30), SETTINGS)
    session = Session(box, NO_ECHO, SILENCE, 8 * RATE_HZ)
    session.say(RATE_HZ, clip.at(-26.0).astype(np.float32))
    while not session.over:
        session.step()
    assert len(box.yields) == 1
    end = RATE_HZ + clip.end
    assert not session.played[box.stops[0] : end].any()
    assert session.played[end + 2 * RATE_HZ : end + 3 * RATE_HZ].any()


def test_a_distorting_loudspeaker_is_not_linear_and_a_linear_one_is() -> None:
    heard = []
    for drive in (0.0, 3.0):
        session = Session(Box(talk(2), SETTINGS), NO_ECHO, SILENCE, RATE_HZ, drive=drive)
        heard.append(session._spoken(np.array([1000, 20_000], np.int16)))
    assert heard[0].tolist() == [1000, 20_000]
    assert heard[1][1] / heard[1][0] < 12
