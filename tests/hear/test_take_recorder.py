"""The take recorder records after the question, and the listener ignores speech meanwhile."""

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
        self.messages: list[TakeMessage] = []

    def ignores_speech(self) -> bool:
        return self.takes.ignores_speech

    def ask(self, *, busy: bool = False, mic_off: bool = False) -> None:
        self.messages += self.takes.ask(ASKED, busy=busy, mic_off=mic_off)

    def state(self, name: str, *, ring: bool = False) -> None:
        changed = StateChanged(name, 1, 0, ring=ring)  # type: ignore[arg-type]  # one of its names
        self.messages += self.takes.on_state(changed)

    def hear(self, frames: int, level: int = 5, *, mic_off: bool = False) -> None:
        for _ in range(-(-frames // BLOCK_FRAMES)):
            block = np.full(BLOCK_FRAMES, level, np.int16)
            self.messages += self.takes.process(block, mic_off=mic_off)

    def asked(self) -> None:
        self.ask()
        self.state("speaking")
        self.hear(8000, level=900)
        self.state("idle")


def test_a_take_begins_after_the_question_and_its_reverberation() -> None:
    recorder = Recorder()
    recorder.asked()
    recorder.hear(SETTLING_FRAMES - BLOCK_FRAMES, level=300)
    assert recorder.messages == []
    recorder.hear(BLOCK_FRAMES, level=300)
    assert recorder.messages == [SoundRecording(7, on=True)]
    assert recorder.takes.recording
    recorder.hear(TAKE_FRAMES, level=5)
    assert recorder.messages[1:] == [SoundRecording(7, on=False)]
    take = recorder.takes.pop_take()
    assert take is not None
    assert take[0] == ASKED
    assert len(take[1]) >= TAKE_FRAMES
    assert set(take[1]) == {5}, "the take contains no sample of the question"
    assert recorder.takes.pop_take() is None


def test_speech_is_ignored_from_one_question_to_the_next() -> None:
    recorder = Recorder()
    assert not recorder.ignores_speech()
    recorder.ask()
    assert recorder.ignores_speech()
    recorder.state("speaking")
    recorder.state("idle")
    recorder.hear(SETTLING_FRAMES + TAKE_FRAMES)
    assert recorder.ignores_speech(), "the rest of a word is ignored"
    recorder.hear(BETWEEN_FRAMES)
    assert not recorder.ignores_speech(), "there is no further question"
    assert recorder.messages == [SoundRecording(7, on=True), SoundRecording(7, on=False)]


@pytest.mark.parametrize("state", ["listening", "thinking", "speaking", "holding", "failed"])
def test_a_conversation_ends_the_take_and_speech_counts_again(state: str) -> None:
    recorder = Recorder()
    recorder.asked()
    recorder.hear(SETTLING_FRAMES + TAKE_FRAMES // 2)
    recorder.state(state)
    assert recorder.messages == [
        SoundRecording(7, on=True),
        SoundRecording(7, on=False),
        TrialRefused(7, "busy"),
    ]
    assert not recorder.ignores_speech()
    recorder.hear(2 * TAKE_FRAMES)
    assert recorder.takes.pop_take() is None


def test_a_ringing_timer_ends_the_take_and_speech_counts_again() -> None:
    recorder = Recorder()
    recorder.ask()
    recorder.state("speaking", ring=True)
    assert recorder.messages == [TrialRefused(7, "busy")]
    assert not recorder.ignores_speech()


def test_a_timer_that_rings_between_two_takes_makes_speech_count_again() -> None:
    recorder = Recorder()
    recorder.asked()
    recorder.hear(SETTLING_FRAMES + TAKE_FRAMES)
    recorder.state("speaking", ring=True)
    assert not recorder.ignores_speech()


def test_a_question_that_is_never_spoken_ends_the_take() -> None:
    recorder = Recorder()
    recorder.ask()
    recorder.hear(ASKING_FRAMES)
    assert recorder.messages == [TrialRefused(7, "busy")]
    assert not recorder.ignores_speech()


def test_muting_the_microphone_ends_the_take() -> None:
    off = Recorder()
    off.ask(mic_off=True)
    assert off.messages == [TrialRefused(7, "muted")]
    later = Recorder()
    later.asked()
    later.hear(SETTLING_FRAMES + TAKE_FRAMES // 2)
    later.hear(BLOCK_FRAMES, mic_off=True)
    assert later.messages[-2:] == [SoundRecording(7, on=False), TrialRefused(7, "muted")]
    assert later.takes.pop_take() is None


def test_a_take_is_refused_while_the_listener_is_busy() -> None:
    recorder = Recorder()
    recorder.ask(busy=True)
    assert recorder.messages == [TrialRefused(7, "busy")]
    assert not recorder.ignores_speech()


def test_cancelling_discards_the_take() -> None:
    recorder = Recorder()
    recorder.asked()
    recorder.hear(SETTLING_FRAMES + TAKE_FRAMES // 2)
    assert recorder.takes.cancel() == [SoundRecording(7, on=False)]
    assert not recorder.ignores_speech()
    assert recorder.takes.cancel() == []
    recorder.hear(TAKE_FRAMES)
    assert recorder.takes.pop_take() is None
