"""The microphone test in the listener: three seconds, in memory, and gone afterwards."""

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
    """A listener's: blocks of a tone in; `told` and `slots` are what came out."""

    def __init__(self) -> None:
        self.recorder = TrialRecorder()
        self.told: list[TrialMessage] = []
        self.slots: list[TriedSlot] = []
        self.hear(SLOTS)  # what a listener before this one may have left is overwritten first
        self.slots.clear()

    def start(self, *, busy: bool = False, mic_off: bool = False) -> TrialMessage:
        return self.recorder.start(TEST, busy=busy, mic_off=mic_off)

    def hear(self, blocks: int, level: int = 4000, *, mic_off: bool = False) -> None:
        for _ in range(blocks):
            block = np.full(BLOCK_FRAMES, level, np.int16)
            block[::2] *= -1
            self.told += self.recorder.process(block, mic_off=mic_off)
            self.slots += self.recorder.pop_slots()

    @property
    def sound(self) -> Samples:
        return np.concatenate([samples for number, samples in self.slots if number == 5])


def test_three_seconds_are_recorded_measured_and_handed_on_whole() -> None:
    box = Recorder()
    assert box.start() == SoundRecording(5, on=True)
    box.hear(BLOCKS + 40)
    off, recorded = box.told
    assert off == SoundRecording(5, on=False)
    assert isinstance(recorded, SoundRecorded)
    assert recorded.played
    assert decode(encode(recorded)) == recorded, "it crosses the border of a process"
    assert len(box.sound) == SECONDS * RATE_HZ


def test_its_end_is_told_when_all_of_it_can_be_read() -> None:
    box = Recorder()
    box.start()
    for _ in range(BLOCKS + 40):
        box.hear(1)
        if any(isinstance(one, SoundRecorded) for one in box.told):
            break
    assert len(box.sound) == SECONDS * RATE_HZ


def test_nothing_counts_as_said_to_the_box_until_a_moment_after_its_end() -> None:
    box = Recorder()
    deaf = [box.recorder.deaf]
    box.start()
    for blocks in (1, BLOCKS - 1, RATE_HZ // BLOCK_FRAMES):
        box.hear(blocks)
        deaf.append(box.recorder.deaf)
    assert deaf == [False, True, True, False]


def test_once_it_was_played_every_slot_is_overwritten() -> None:
    box = Recorder()
    box.start()
    box.hear(BLOCKS + 40)
    box.slots.clear()
    box.recorder.forget()
    box.recorder.forget()
    box.hear(SLOTS)
    assert len(box.slots) == SLOTS
    assert not any(number or samples.any() for number, samples in box.slots)


def test_a_recording_that_was_never_played_is_overwritten_all_the_same() -> None:
    box = Recorder()
    box.start()
    box.hear(BLOCKS + 40)
    box.slots.clear()
    box.hear(21 * RATE_HZ // BLOCK_FRAMES)
    assert len(box.slots) == SLOTS


@pytest.mark.parametrize(
    ("busy", "mic_off", "why"), [(True, False, "busy"), (False, True, "muted")]
)
def test_it_is_refused_while_somebody_talks_or_nothing_is_heard(
    busy: bool, mic_off: bool, why: str
) -> None:
    box = Recorder()
    told = box.start(busy=busy, mic_off=mic_off)
    assert isinstance(told, TrialRefused)
    assert told.why == why
    box.hear(BLOCKS + 40)
    assert (box.told, box.slots, box.recorder.deaf) == ([], [], False)


def test_a_second_one_waits_for_the_first() -> None:
    box = Recorder()
    box.start()
    assert box.start() == TrialRefused(5, "busy")


def test_a_mute_in_the_middle_ends_it_and_nothing_of_it_is_kept() -> None:
    box = Recorder()
    box.start()
    box.hear(BLOCKS // 2)
    box.hear(1, mic_off=True)
    assert box.told == [SoundRecording(5, on=False), TrialRefused(5, "muted")]
    box.hear(BLOCKS + 40)
    assert (box.slots, len(box.told)) == ([], 2)


def test_when_nobody_waits_for_it_any_more_it_ends() -> None:
    box = Recorder()
    box.start()
    box.hear(10)
    assert box.recorder.cancel() == [SoundRecording(5, on=False)]
    assert not box.recorder.deaf
    assert box.recorder.cancel() == []


def test_a_microphone_that_gives_zeros_is_told_of_and_not_played() -> None:
    box = Recorder()
    box.start()
    box.hear(BLOCKS + 40, level=0)
    recorded = box.told[-1]
    assert isinstance(recorded, SoundRecorded)
    assert not recorded.played
    assert box.slots == []
