"""Enrolment in the listener: takes go to a program, and its result is used at once."""

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
        self.news: list[EnrolmentNews] = []

    def handle(self, message: object) -> None:
        self.news += self.enrolling.handle(message, busy=False, mic_off=False)  # type: ignore[arg-type]  # a member

    def hear(self, frames: int) -> None:
        for _ in range(-(-frames // BLOCK_FRAMES)):
            self.news += self.enrolling.process(SILENCE, mic_off=False)

    def until(self, true: Callable[[], object]) -> None:
        end_s = time.monotonic() + PATIENCE_S
        while not true():
            assert time.monotonic() < end_s, self.news
            self.hear(BLOCK_FRAMES)
            time.sleep(0.002)

    def take(self, number: int) -> None:
        self.handle(AskTake(7, number, "wait"))
        self.handle(StateChanged("speaking", 1, 0))
        self.handle(StateChanged("idle", 1, 0))
        self.hear(SETTLING_FRAMES + TAKE_FRAMES)


def test_a_take_is_judged_and_too_few_takes_end_the_program(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    listener.handle(BeginEnrolment(7))
    listener.take(1)
    listener.until(lambda: len(listener.news) > 2)
    assert listener.news == [
        SoundRecording(7, on=True),
        SoundRecording(7, on=False),
        TakeJudged(7, 1, "silent"),
    ]
    listener.handle(LearnEnrolment(7))
    listener.until(lambda: len(listener.news) > 3)
    assert listener.news[3:] == [EnrolmentLearnt(7, "too-few")]
    assert not listener.enrolling.ignores_speech
    listener.until(lambda: not learners())
    listener.enrolling.close()


def test_ending_the_enrolment_ends_its_program(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    listener.handle(BeginEnrolment(7))
    listener.until(learners)
    listener.handle(EndTrial(7))
    listener.until(lambda: not learners())
    assert listener.news == []
    assert list(tmp_path.iterdir()) == []


def test_a_crash_of_the_program_ends_the_enrolment(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    listener.handle(BeginEnrolment(7))
    listener.until(learners)
    for program in learners():
        program.kill()
    listener.take(1)
    listener.until(lambda: listener.news[-1:] == [EnrolmentLearnt(7, "failed")])
    assert not listener.enrolling.ignores_speech


def test_a_listener_without_an_enrolment_reports_failure(tmp_path: Path) -> None:
    listener = Listener(tmp_path)
    listener.handle(AskTake(7, 1, "wait"))
    listener.handle(LearnEnrolment(7))
    assert listener.news == [EnrolmentLearnt(7, "failed")] * 2
    assert not listener.enrolling.ignores_speech


def test_a_saved_layer_and_its_removal_take_effect_at_once(tmp_path: Path) -> None:
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
