"""The listener as a process with real rings, floor and mail; the test plays the other processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest

from appliance import settings
from appliance.messages.commands import StateChanged
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.pcm import RATE_HZ, Samples, from_float
from appliance.runtime.ipc.ring import END, START, RingReader, RingWriter
from tests.hear.arena import at_level, say
from tests.supervised import SupervisedPart

pytestmark = pytest.mark.process


INDEX = 5_000_000


class Box(SupervisedPart):
    """The listener under the real supervisor."""

    def __init__(self, chosen: settings.Settings | None = None) -> None:
        super().__init__("listener", chosen or settings.load_defaults(), watchers=("room",))
        self.mic = RingWriter(self.supervisor.rings["mic"])
        self.played = RingWriter(self.supervisor.rings["played"])
        self.heard = RingReader(self.supervisor.rings["heard"], "room")
        self.index = INDEX

    def start(self) -> None:
        self.floor.muted = False  # no conductor is running to restore it
        self.supervisor.start()
        self.until(lambda: self.supervisor.is_ready)

    def feed(self, sound: Samples) -> None:
        """Write to the ring as capture does, as fast as the listener can follow."""
        for at in range(0, len(sound) - 79, 80):
            self.mic.write(sound[at : at + 80], index=self.index)
            self.index += 80
            if at // 80 % 20 == 0:
                self.until(lambda: True)
                time.sleep(0.004)


@pytest.fixture
def box() -> Iterator[Box]:
    with Box() as box:
        yield box


def spoken(text: str) -> Samples:
    silence = np.zeros(RATE_HZ // 2)
    return from_float(np.concatenate([silence, at_level(say(text)), silence, silence]))


def test_speech_holds_the_floor_and_is_written_to_the_heard_ring(box: Box) -> None:
    box.start()
    box.feed(spoken("what about the sea"))
    box.until(lambda: bool(box.told(SpeechEnded)))
    [onset], [started], [ended] = box.told(Onset), box.told(SpeechStarted), box.told(SpeechEnded)
    assert isinstance(onset, Onset)
    assert isinstance(started, SpeechStarted)
    assert isinstance(ended, SpeechEnded)
    assert box.floor.hold == onset.serial == 1
    assert INDEX + 8000 <= onset.index < INDEX + 8000 + 800
    slots = []
    while (slot := box.heard.read()) is not None:
        slots.append(slot)
    assert {slot.stream for slot in slots} == {started.utterance}
    assert (slots[0].flags, slots[-1].flags) == (START, END)
    assert sum(len(slot.samples) for slot in slots) == ended.frames
    assert slots[0].index == onset.index - 300 * 16


def test_speech_into_a_muted_microphone_is_not_processed(box: Box) -> None:
    box.start()
    box.floor.muted = True
    box.feed(spoken("what about the sea"))
    box.floor.muted = False
    box.feed(spoken("stop"))
    box.until(lambda: bool(box.told(SpeechEnded)))
    [onset] = box.told(Onset)
    assert isinstance(onset, Onset)
    assert onset.index > INDEX + len(spoken("what about the sea"))


def test_a_restarted_listener_retracts_its_predecessors_hold(box: Box) -> None:
    box.floor.hold = 41
    box.floor.released = 40
    box.start()
    box.until(lambda: bool(box.told(Verdict)))
    assert box.told(Verdict) == [Verdict(41, "noise", 0)]
    box.feed(spoken("stop"))
    box.until(lambda: bool(box.told(SpeechEnded)))
    assert box.floor.hold == 42


def test_the_utterance_ends_when_the_microphone_stops_delivering(box: Box) -> None:
    box.start()
    box.feed(spoken("what about the sea")[: 8000 + 11_000])
    box.until(lambda: bool(box.told(SpeechStarted)))
    box.until(lambda: bool(box.told(SpeechEnded)))


def test_an_onset_while_the_answer_is_paused_is_an_interruption(box: Box) -> None:
    box.start()
    box.mail.send(StateChanged("speaking", 3, 0))
    os.sched_yield()
    time.sleep(0.05)
    box.feed(spoken("what about the sea"))
    box.until(lambda: bool(box.told(SpeechEnded)))
    assert [v.kind for v in box.told(Verdict) if isinstance(v, Verdict)] == ["interruption"]


def test_the_boxs_own_voice_is_aligned_by_index_and_cancelled(box: Box) -> None:
    box.start()
    rng = np.random.default_rng(0)
    voice = (rng.standard_normal(6 * RATE_HZ) * 2000).astype(np.int16)
    echo = np.append(np.zeros(400), voice[:-400] * 0.2).astype(np.int16)
    for at in range(0, len(voice), 80):
        box.played.write(voice[at : at + 80], index=box.index + at)
        if at >= 240:  # played is written before it sounds
            box.mic.write(echo[at - 240 : at - 160], index=box.index + at - 240)
        if at // 80 % 20 == 0:
            box.until(lambda: True)
            time.sleep(0.004)
    assert len(box.told(Onset)) <= 2
    assert box.told(SpeechStarted) == []


def test_the_turn_network_ends_a_turn_that_silence_would_end_after_30_s() -> None:
    defaults = settings.load_defaults()
    turn = msgspec.structs.replace(
        defaults.hearing.turn, end_ms=30_000, sure=0.0, likely=0.0, unsure_ms=30_000,
        unlikely_ms=30_000,
    )  # fmt: skip
    hearing = msgspec.structs.replace(defaults.hearing, turn=turn)
    with Box(msgspec.structs.replace(defaults, hearing=hearing)) as box:
        box.start()
        box.feed(spoken("what about the sea"))
        until_s = time.monotonic() + 20.0
        while not box.told(SpeechEnded):  # silence goes on as it does in a room
            assert time.monotonic() < until_s
            box.feed(np.zeros(1600, np.int16))
            box.poll()
        assert box.index < INDEX + 30 * RATE_HZ
