"""An enrolment in the listener: takes go to a program, and what it learnt counts at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from appliance.hear.bargein import adaptation, network
from appliance.hear.bargein.adaptation import CLASSES, EMBEDDING, Adaptation
from appliance.hear.bargein.network import NetworkClassifier, VerdictNetwork
from appliance.hear.enrolling import Enrolling, EnrolmentNews
from appliance.hear.take_recorder import SETTLING_FRAMES, TAKE_FRAMES
from appliance.messages.commands import StateChanged
from appliance.messages.enrolling import (
    AskTake,
    BeginEnrolment,
    EnrolmentLearnt,
    LearnEnrolment,
    OwnerVoiceChanged,
    TakeJudged,
)
from appliance.messages.trying import EndTrial, SoundRecording
from appliance.pcm import BLOCK_FRAMES
from appliance.runtime import enrolled_files
from appliance.settings import load
from tests.learners import learners

pytestmark = pytest.mark.process
PATIENCE_S = 120.0  # on a very busy machine
SILENCE = np.zeros(BLOCK_FRAMES, np.int16)


class Listener:
    def __init__(self, state: Path) -> None:
        self.classifier = NetworkClassifier(VerdictNetwork())
        settings = load(None, {"state_dir": str(state)})
        self.enrolling = Enrolling(settings, self.classifier)
        self.told: list[EnrolmentNews] = []

    def handle(self, message: object) -> None:
        self.told += self.enrolling.handle(message, busy=False, mic_off=False)  # type: ignore[arg-type]  # one of them

    def hear(self, frames: int) -> None:
        for _ in range(-(-frames // BLOCK_FRAMES)):
            self.told += self.enrolling.process(SILENCE, mic_off=False)

    def until(self, true: Callable[[], object]) -> None:
        end_s = time.monotonic() + PATIENCE_S
        while not true():
            assert time.monotonic() < end_s, self.told
            self.hear(BLOCK_FRAMES)
            time.sleep(0.002)

    def take(self, number: int) -> None:
        self.handle(AskTake(7, number, "wait"))
        self.handle(StateChanged("speaking", 1, 0))
        self.handle(StateChanged("idle", 1, 0))
        self.hear(SETTLING_FRAMES + TAKE_FRAMES)


def test_a_take_is_judged_and_too_few_end_the_program(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    listener.handle(BeginEnrolment(7))
    listener.take(1)
    listener.until(lambda: len(listener.told) > 2)
    assert listener.told == [
        SoundRecording(7, on=True),
        SoundRecording(7, on=False),
        TakeJudged(7, 1, "silent"),
    ]
    listener.handle(LearnEnrolment(7))
    listener.until(lambda: len(listener.told) > 3)
    assert listener.told[3:] == [EnrolmentLearnt(7, "too-few")]
    assert not listener.enrolling.deaf
    listener.until(lambda: not learners())
    listener.enrolling.close()


def test_one_that_is_ended_ends_its_program(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    listener.handle(BeginEnrolment(7))
    listener.until(learners)
    listener.handle(EndTrial(7))
    listener.until(lambda: not learners())
    assert listener.told == []
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_dies_ends_the_enrolment(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    listener.handle(BeginEnrolment(7))
    listener.until(learners)
    for one in learners():
        one.kill()
    listener.take(1)
    listener.until(lambda: listener.told[-1:] == [EnrolmentLearnt(7, "failed")])
    assert not listener.enrolling.deaf


def test_a_listener_that_knows_nothing_of_it_says_so(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    listener.handle(AskTake(7, 1, "wait"))
    listener.handle(LearnEnrolment(7))
    assert listener.told == [EnrolmentLearnt(7, "failed")] * 2
    assert not listener.enrolling.deaf


def test_what_was_enrolled_counts_at_once_and_so_does_its_end(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    made = Adaptation(
        np.ones((CLASSES, EMBEDDING), np.float32), np.ones(CLASSES, np.float32),
        network.fingerprint(),
    )  # fmt: skip
    adaptation.save(made, tmp_path)
    listener.handle(OwnerVoiceChanged())
    listener.until(lambda: listener.classifier.owner is not None)
    assert enrolled_files.forget(tmp_path) == []
    listener.handle(OwnerVoiceChanged())
    listener.until(lambda: listener.classifier.owner is None)
