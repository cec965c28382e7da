"""The owner's test recording is read once, then overwritten in the loudspeaker's ring."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from appliance.runtime.ipc import ring_handles
from appliance.runtime.ipc.ring import RingReader, RingSlot, RingWriter
from appliance.runtime.ipc.ring_handles import RingSpec
from appliance.voice.tried_sound import TriedSound

TRIED = RingSpec("tried", "listener", ("speaker",), 256, 320)
VOICE = RingSpec("voice", "speaker", ("playback",), 128, 320, waits_for="playback")


class Rings:
    def __init__(self) -> None:
        self.handles = [ring_handles.create(TRIED), ring_handles.create(VOICE)]
        self.tried = RingWriter(self.handles[0])
        self.voice = RingWriter(self.handles[1])
        self.player = RingReader(self.handles[1], "playback")
        self.sound = TriedSound(RingReader(self.handles[0], "speaker"), self.voice)

    def record(self, number: int, slots: int = 150) -> None:
        for n in range(slots):
            self.tried.write(np.full(320, n + number, np.int16), stream=number)

    def play(self) -> list[RingSlot]:
        return list(self.player.read_all())


@pytest.fixture
def rings() -> Iterator[Rings]:
    made = Rings()
    yield made
    for handles in made.handles:
        handles.close()


def test_a_recording_is_returned_completely_and_once(rings: Rings) -> None:
    rings.record(7)
    rings.sound.collect()
    sound = rings.sound.pop()
    assert len(sound) == 150 * 320
    assert set(sound[:320]) == {7}
    assert len(rings.sound.pop()) == 0


def test_the_overwriting_silence_is_not_a_recording_and_drops_the_previous(rings: Rings) -> None:
    rings.record(7)
    rings.sound.collect()
    rings.tried.write(np.zeros(320, np.int16), stream=0)
    rings.sound.collect()
    assert len(rings.sound.pop()) == 0


def test_a_newer_recording_replaces_an_older_one(rings: Rings) -> None:
    rings.record(7, 20)
    rings.record(8, 30)
    rings.sound.collect()
    assert len(rings.sound.pop()) == 30 * 320


def test_after_playback_every_slot_of_the_loudspeakers_ring_is_overwritten(
    rings: Rings,
) -> None:
    for n in range(VOICE.slots):
        rings.voice.write(np.full(320, 9, np.int16), stream=3, position=320 * n)
    rings.sound.pop()
    rings.sound.overwrite(busy=True)
    rings.sound.overwrite(busy=False)
    assert all(slot.stream == 3 for slot in rings.play()), "there was no room, and nothing was lost"
    rings.sound.overwrite(busy=False)
    erased = rings.play()
    assert len(erased) == VOICE.slots
    assert not any(slot.stream or slot.samples.any() for slot in erased)
    rings.sound.overwrite(busy=False)
    assert rings.play() == [], "it is overwritten only once"


def test_without_the_ring_there_is_no_recording(rings: Rings) -> None:
    sound = TriedSound(None, rings.voice)
    sound.collect()
    assert (sound.descriptors, len(sound.pop())) == ((), 0)
