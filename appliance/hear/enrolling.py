"""The listener's side of an enrolment: records takes, has a program check them and learn.

In: requests of the conductor, states of the dialogue, blocks of sound. Out: messages. Afterwards it
loads the new correction into the classifier. No call blocks.
"""

from __future__ import annotations

import logging
import threading
from queue import Empty, SimpleQueue

from appliance.hear.bargein import network
from appliance.hear.bargein.adaptation import Adaptation
from appliance.hear.bargein.classifier import SegmentClassifier
from appliance.hear.bargein.enrolment_lines import ProgramReply, TakeScored
from appliance.hear.learning_program import LearningProgram
from appliance.hear.take_recorder import TakeMessage, TakeRecorder
from appliance.messages.commands import StateChanged
from appliance.messages.enrolling import (
    AskTake,
    BeginEnrolment,
    EnrolmentLearnt,
    LearnEnrolment,
    OwnerVoiceChanged,
    TakeJudged,
)
from appliance.messages.trying import EndTrial
from appliance.pcm import Samples
from appliance.settings import Settings

EnrolmentRequest = BeginEnrolment | AskTake | LearnEnrolment | OwnerVoiceChanged
EnrolmentNews = TakeMessage | TakeJudged | EnrolmentLearnt


class Enrolling:
    """Runs one enrolment at a time. `classifier`: gets the learnt correction."""

    def __init__(self, settings: Settings, classifier: SegmentClassifier) -> None:
        self._settings = settings
        self._classifier = classifier
        self._takes = TakeRecorder()
        self._program: LearningProgram | None = None
        self._number = 0
        self._loaded: SimpleQueue[Adaptation | None] = SimpleQueue()
        self._pending_loads = 0  # number of threads whose result is pending

    @property
    def recording(self) -> bool:
        return self._takes.recording

    @property
    def ignores_speech(self) -> bool:
        return self._takes.ignores_speech

    def handle(
        self, message: EnrolmentRequest | EndTrial | StateChanged, *, busy: bool, mic_off: bool
    ) -> list[EnrolmentNews]:
        """Handle a message; returns the messages to send at once."""
        match message:
            case BeginEnrolment(number):
                self._end_program()
                self._number = number
                state = str(self._settings.state_path())
                self._program = LearningProgram(self._settings.hearing, state)
            case AskTake(number) if number == self._number and self._program is not None:
                return [*self._takes.ask(message, busy=busy, mic_off=mic_off)]
            case AskTake(number) | LearnEnrolment(number) if number != self._number:
                return [EnrolmentLearnt(number, "failed")]  # begun by a crashed listener
            case LearnEnrolment() if self._program is not None:
                self._program.learn()
            case OwnerVoiceChanged():
                self._start_loading()
            case EndTrial():
                self._end_program()
                return [*self._takes.cancel()]
            case StateChanged():
                return [*self._takes.on_state(message)]
        return []

    def process(self, mic: Samples, *, mic_off: bool) -> list[EnrolmentNews]:
        """Process one block of the microphone, unprocessed; returns the messages to send."""
        messages: list[EnrolmentNews] = [*self._takes.process(mic, mic_off=mic_off)]
        if self._program is not None:
            if (take := self._takes.pop_take()) is not None:
                self._program.judge(*take)
            if (reply := self._program.pop_reply()) is not None:
                messages += self._on_reply(reply)
        if self._pending_loads:
            self._apply_loaded()
        return messages

    def close(self) -> None:
        self._end_program()

    def _on_reply(self, reply: ProgramReply) -> list[EnrolmentNews]:
        if isinstance(reply, TakeScored):
            return [TakeJudged(self._number, reply.take, reply.fault)]
        # A LearningEnds, with or without success, is the last reply of the program.
        self._end_program()
        messages = self._takes.cancel()
        if reply.outcome == "kept":
            self._start_loading()
        result = EnrolmentLearnt(
            self._number, reply.outcome, reply.before, reply.after, reply.worst
        )
        return [*messages, result]

    def _end_program(self) -> None:
        if self._program is not None:
            self._program.end()
            self._program = None

    def _start_loading(self) -> None:
        """Read the correction in a thread, since an SD card may be slow."""
        self._pending_loads += 1
        threading.Thread(target=self._load, name="owner", daemon=True).start()

    def _load(self) -> None:
        state = self._settings.state_path()
        self._loaded.put(network.load_owner(state, logging.getLogger("listener")))

    def _apply_loaded(self) -> None:
        try:
            owner = self._loaded.get_nowait()
        except Empty:
            return
        self._pending_loads -= 1
        if isinstance(self._classifier, network.NetworkClassifier):
            self._classifier.owner = owner
