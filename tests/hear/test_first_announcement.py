"""A box's first announcement in unknown rooms is interrupted by a person and by nothing else.

Rooms are simulated, faster than real time. `interlude bench announcement` covers more of them.
"""

from __future__ import annotations

import random

import msgspec
import numpy as np
import pytest

from appliance.pcm import RATE_HZ, Samples
from appliance.settings import load_defaults
from lab.bench.announcement import (
    DELAYS_MS,
    LISTENS_S,
    RT60_S,
    AnnouncementRoom,
    announce,
    announcements,
)
from lab.sim import speech_source

pytestmark = pytest.mark.process
SETTINGS = load_defaults()
ECHOES_DB = (-10.0, -30.0)
VOICES = ("hibari", "espeak")


@pytest.fixture(scope="module", params=VOICES)
def voice(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def sounds(voice: str) -> list[Samples]:
    speaking = msgspec.structs.replace(SETTINGS.speaking, voice=voice)
    return announcements(msgspec.structs.replace(SETTINGS, speaking=speaking))


@pytest.mark.parametrize("echo_db", ECHOES_DB)
def test_the_first_announcement_causes_no_onset(
    sounds: list[Samples], voice: str, echo_db: float
) -> None:
    """Each voice says every text, and one of the voices says it at each echo level."""
    rng = random.Random(3)
    rooms = [(rng.choice(RT60_S), rng.choice(DELAYS_MS), rng.randrange(1000, 2000)) for _ in sounds]
    half = slice((VOICES.index(voice) + ECHOES_DB.index(echo_db)) % 2, None, 2)
    for sound, place in zip(sounds[half], rooms[half], strict=True):
        run = announce(SETTINGS, sound, AnnouncementRoom(echo_db, *place))
        assert (run.onsets, run.yields) == ([], []), place


@pytest.mark.parametrize("echo_db", [-20.0])
def test_speech_over_the_first_announcement_is_detected(
    sounds: list[Samples], echo_db: float
) -> None:
    """A person a metre away speaks 1.4 s into the announcement, which need not be heard out."""
    heard = 0
    said = sounds[0][: round(2.2 * RATE_HZ)]
    for number, text in enumerate(
        ("wait a minute", "stop", "no that's wrong", "what about the sea")
    ):
        wave = speech_source.spoken(text, "en-gb+f3", 160, 50)
        word = speech_source.at_level(wave, speech_source.SPEECH_DB)
        at = round((LISTENS_S + 1.4) * RATE_HZ)
        room = AnnouncementRoom(echo_db, RT60_S[number], 40, 1001 + number)
        run = announce(SETTINGS, said, room, (at, word.samples))
        onset = at + word.onset
        heard += any(0 < found - onset < 0.3 * RATE_HZ for found in run.onsets[:1])
    assert heard >= 3


def test_a_clipping_echo_rarely_interrupts_the_first_announcement(
    sounds: list[Samples],
) -> None:
    runs = [announce(SETTINGS, sound, AnnouncementRoom(0.0, 0.3, 40, 1001)) for sound in sounds]
    assert sum(bool(run.onsets) for run in runs) <= 1
    assert np.mean([len(run.onsets) for run in runs]) < 1
