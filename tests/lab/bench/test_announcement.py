"""The bench of the first announcement: rooms, speech over it, and its counts."""

from __future__ import annotations

import random

import numpy as np
import pytest

from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from lab.bench import announcement
from lab.bench.announcement import (
    DELAYS_MS,
    LISTENS_S,
    RT60_S,
    AnnouncementRoom,
    AnnouncementRun,
    announce,
)
from lab.bench.bench_speech import espeak_talk

QUIET = AnnouncementRoom(-30.0, 0.3, 40, 1001)


def test_every_reverberation_is_combined_with_every_delay() -> None:
    rooms = list(announcement._rooms(-20.0, len(RT60_S) * len(DELAYS_MS), random.Random(1)))
    assert len({(room.rt60_s, room.delay_ms) for room in rooms}) == len(rooms)
    assert {room.echo_db for room in rooms} == {-20.0}


@pytest.mark.process
def test_speech_in_a_silent_room_has_an_onset_and_silence_has_none() -> None:
    nothing = np.zeros(2 * RATE_HZ, np.int16)
    word = espeak_talk(0.5, 1, voices=("en-gb+f3",)) // 4
    at = round((LISTENS_S + 0.5) * RATE_HZ)
    assert announce(load_defaults(), nothing, QUIET) == AnnouncementRun([], [])
    run = announce(load_defaults(), nothing, QUIET, (at, word))
    assert 0 < run.onsets[0] - at < 0.2 * RATE_HZ


def test_late_onsets_and_those_after_a_self_interruption_are_counted_separately() -> None:
    alone = [AnnouncementRun([], []), AnnouncementRun([5], []), AnnouncementRun([5], [9])]
    over = [(40.0, False), (200.0, False), (400.0, False), (None, False), (10.0, True)]
    assert announcement._figures(alone, over) == (3, 2, 1, 5, 1, 3, 1, 2, 200, 380)
