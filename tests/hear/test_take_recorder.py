"""Takes of an enrolment in the listener: recorded after the question, and said to nobody."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.take_recorder import (
    ASKING_FRAMES,
    BETWEEN_FRAMES,
    SETTLING_FRAMES,
    TAKE_FRAMES,
    TakeMessage,
    TakeRecorder,
)
from appliance.messages.commands import StateChanged
from appliance.messages.enrolling import AskTake
from appliance.messages.trying import SoundRecording, TrialRefused
from appliance.pcm import BLOCK_FRAMES

ASKED = AskTake(7, 3, "wait")


class Recorder:
    def __init__(self) -> None:
        self.takes = TakeRecorder()
        self.told: list[TakeMessage] = []

    def deaf(self) -> bool:
        return self.takes.deaf

    def ask(self, *, busy: bool = False, mic_off: bool = False) -> None:
        self.told += self.takes.ask(ASKED, busy=busy, mic_off=mic_off)

    def state(self, name: str, *, ring: bool = False) -> None:
        changed = StateChanged(name, 1, 0, ring=ring)  # type: ignore[arg-type]  # one of its names
        self.told += self.takes.on_state(changed)

    def hear(self, frames: int, level: int = 5, *, mic_off: bool = False) -> None:
        for _ in range(-(-frames // BLOCK_FRAMES)):
            block = np.full(BLOCK_FRAMES, level, np.int16)
            self.told += self.takes.process(block, mic_off=mic_off)

    def asked(self) -> None:
        self.ask()
        self.state("speaking")
        self.hear(8000, level=900)
        self.state("idle")


def test_the_take_begins_when_the_question_and_its_reverberation_are_over() -> None:
    recorder = Recorder()
    recorder.asked()
    recorder.hear(SETTLING_FRAMES - BLOCK_FRAMES, level=300)
    assert recorder.told == []
    recorder.hear(BLOCK_FRAMES, level=300)
    assert recorder.told == [SoundRecording(7, on=True)]
    assert recorder.takes.recording
    recorder.hear(TAKE_FRAMES, level=5)
    assert recorder.told[1:] == [SoundRecording(7, on=False)]
    take = recorder.takes.pop_take()
    assert take is not None
    assert take[0] == ASKED
    assert len(take[1]) >= TAKE_FRAMES
    assert set(take[1]) == {5}, "nothing of the question"
    assert recorder.takes.pop_take() is None


def test_from_the_question_to_the_next_one_nothing_is_said_to_the_box() -> None:
    recorder = Recorder()
    assert not recorder.deaf()
    recorder.ask()
    assert recorder.deaf()
    recorder.state("speaking")
    recorder.state("idle")
    recorder.hear(SETTLING_FRAMES + TAKE_FRAMES)
    assert recorder.deaf(), "the end of a word"
    recorder.hear(BETWEEN_FRAMES)
    assert not recorder.deaf(), "nobody asks any more"
    assert recorder.told == [SoundRecording(7, on=True), SoundRecording(7, on=False)]


@pytest.mark.parametrize("state", ["listening", "thinking", "speaking", "holding", "failed"])
def test_a_conversation_ends_the_take_and_the_owner_is_heard(state: str) -> None:
    recorder = Recorder()
    recorder.asked()
    recorder.hear(SETTLING_FRAMES + TAKE_FRAMES // 2)
    recorder.state(state)
    assert recorder.told == [
        SoundRecording(7, on=True),
        SoundRecording(7, on=False),
        TrialRefused(7, "busy"),
    ]
    assert not recorder.deaf()
    recorder.hear(2 * TAKE_FRAMES)
    assert recorder.takes.pop_take() is None


def test_a_timer_that_rings_is_no_question_and_whoever_stops_it_is_heard() -> None:
    recorder = Recorder()
    recorder.ask()
    recorder.state("speaking", ring=True)
    assert recorder.told == [TrialRefused(7, "busy")]
    assert not recorder.deaf()


def test_one_that_rings_between_two_takes_is_heard_too() -> None:
    recorder = Recorder()
    recorder.asked()
    recorder.hear(SETTLING_FRAMES + TAKE_FRAMES)
    recorder.state("speaking", ring=True)
    assert not recorder.deaf()


def test_a_voice_that_never_speaks_ends_it() -> None:
    recorder = Recorder()
    recorder.ask()
    recorder.hear(ASKING_FRAMES)
    assert recorder.told == [TrialRefused(7, "busy")]
    assert not recorder.deaf()


def test_a_microphone_that_is_switched_off_ends_it() -> None:
    off = Recorder()
    off.ask(mic_off=True)
    assert off.told == [TrialRefused(7, "muted")]
    later = Recorder()
    later.asked()
    later.hear(SETTLING_FRAMES + TAKE_FRAMES // 2)
    later.hear(BLOCK_FRAMES, mic_off=True)
    assert later.told[-2:] == [SoundRecording(7, on=False), TrialRefused(7, "muted")]
    assert later.takes.pop_take() is None


def test_while_somebody_talks_it_is_refused() -> None:
    recorder = Recorder()
    recorder.ask(busy=True)
    assert recorder.told == [TrialRefused(7, "busy")]
    assert not recorder.deaf()


def test_cancelling_leaves_nothing() -> None:
    recorder = Recorder()
    recorder.asked()
    recorder.hear(SETTLING_FRAMES + TAKE_FRAMES // 2)
    assert recorder.takes.cancel() == [SoundRecording(7, on=False)]
    assert not recorder.deaf()
    assert recorder.takes.cancel() == []
    recorder.hear(TAKE_FRAMES)
    assert recorder.takes.pop_take() is None
