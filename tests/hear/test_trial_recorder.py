"""The microphone test records three seconds in memory and overwrites them afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.trial_recorder import SECONDS, TrialMessage, TrialRecorder, TriedSlot
from appliance.messages.registry import decode, encode
from appliance.messages.trying import SoundRecorded, SoundRecording, StartTrial, TrialRefused
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from appliance.runtime.process_table import TRIED, ring

BLOCKS = round(SECONDS * RATE_HZ / BLOCK_FRAMES)
SLOTS = ring(TRIED).slots
TEST = StartTrial(5, "microphone")


class Recorder:
    """The recorder, fed with blocks of a tone; collects its messages and slots."""

    def __init__(self) -> None:
        self.recorder = TrialRecorder()
        self.messages: list[TrialMessage] = []
        self.slots: list[TriedSlot] = []
        self.hear(SLOTS)  # the slots of a previous listener are overwritten first
        self.slots.clear()

    def start(self, *, busy: bool = False, mic_off: bool = False) -> TrialMessage:
        return self.recorder.start(TEST, busy=busy, mic_off=mic_off)

    def hear(self, blocks: int, level: int = 4000, *, mic_off: bool = False) -> None:
        for _ in range(blocks):
            block = np.full(BLOCK_FRAMES, level, np.int16)
            block[::2] *= -1
            self.messages += self.recorder.process(block, mic_off=mic_off)
            self.slots += self.recorder.pop_slots()

    @property
    def sound(self) -> Samples:
        return np.concatenate([samples for number, samples in self.slots if number == 5])


def test_three_seconds_are_recorded_measured_and_delivered_completely() -> None:
    box = Recorder()
    assert box.start() == SoundRecording(5, on=True)
    box.hear(BLOCKS + 40)
    off, recorded = box.messages
    assert off == SoundRecording(5, on=False)
    assert isinstance(recorded, SoundRecorded)
    assert recorded.played
    assert decode(encode(recorded)) == recorded, "the message can be encoded"
    assert len(box.sound) == SECONDS * RATE_HZ


def test_the_recording_is_announced_when_all_of_it_can_be_read() -> None:
    box = Recorder()
    box.start()
    for _ in range(BLOCKS + 40):
        box.hear(1)
        if any(isinstance(message, SoundRecorded) for message in box.messages):
            break
    assert len(box.sound) == SECONDS * RATE_HZ


def test_speech_is_ignored_until_a_moment_after_the_recording() -> None:
    box = Recorder()
    ignores_speech = [box.recorder.ignores_speech]
    box.start()
    for blocks in (1, BLOCKS - 1, RATE_HZ // BLOCK_FRAMES):
        box.hear(blocks)
        ignores_speech.append(box.recorder.ignores_speech)
    assert ignores_speech == [False, True, True, False]


def test_after_playback_every_slot_is_overwritten() -> None:
    box = Recorder()
    box.start()
    box.hear(BLOCKS + 40)
    box.slots.clear()
    box.recorder.forget()
    box.recorder.forget()
    box.hear(SLOTS)
    assert len(box.slots) == SLOTS
    assert not any(number or samples.any() for number, samples in box.slots)


def test_an_unplayed_recording_is_overwritten_after_a_timeout() -> None:
    box = Recorder()
    box.start()
    box.hear(BLOCKS + 40)
    box.slots.clear()
    box.hear(21 * RATE_HZ // BLOCK_FRAMES)
    assert len(box.slots) == SLOTS


@pytest.mark.parametrize(
    ("busy", "mic_off", "why"), [(True, False, "busy"), (False, True, "muted")]
)
def test_the_test_is_refused_while_busy_or_muted(busy: bool, mic_off: bool, why: str) -> None:
    box = Recorder()
    refused = box.start(busy=busy, mic_off=mic_off)
    assert isinstance(refused, TrialRefused)
    assert refused.why == why
    box.hear(BLOCKS + 40)
    assert (box.messages, box.slots, box.recorder.ignores_speech) == ([], [], False)


def test_a_second_test_is_refused_during_the_first() -> None:
    box = Recorder()
    box.start()
    assert box.start() == TrialRefused(5, "busy")


def test_muting_during_the_test_ends_it_and_discards_the_recording() -> None:
    box = Recorder()
    box.start()
    box.hear(BLOCKS // 2)
    box.hear(1, mic_off=True)
    assert box.messages == [SoundRecording(5, on=False), TrialRefused(5, "muted")]
    box.hear(BLOCKS + 40)
    assert (box.slots, len(box.messages)) == ([], 2)


def test_a_cancelled_test_ends() -> None:
    box = Recorder()
    box.start()
    box.hear(10)
    assert box.recorder.cancel() == [SoundRecording(5, on=False)]
    assert not box.recorder.ignores_speech
    assert box.recorder.cancel() == []


def test_a_microphone_that_delivers_zeros_is_reported_and_not_played() -> None:
    box = Recorder()
    box.start()
    box.hear(BLOCKS + 40, level=0)
    recorded = box.messages[-1]
    assert isinstance(recorded, SoundRecorded)
    assert not recorded.played
    assert box.slots == []
