"""The listener: runs `HearingPipeline` on the rings `mic` and `played`, writes ring `heard`.

It sends the pipeline's events as messages. An onset raises the floor's `hold` before anything else.
"""

from __future__ import annotations

import select
import time
from collections.abc import Iterable

import numpy as np

from appliance.hear.aec import store
from appliance.hear.aec.factory import make_canceller
from appliance.hear.aec.monitor import EchoMonitor
from appliance.hear.bargein import murmur_judge, network
from appliance.hear.bargein.murmur_judge import MurmurJudge
from appliance.hear.echo_meter import EchoMeter
from appliance.hear.enrolling import Enrolling, EnrolmentRequest
from appliance.hear.level_meter import LevelMeter
from appliance.hear.network_judge import BackgroundJudge
from appliance.hear.pipeline import HearingEvent, HearingPipeline
from appliance.hear.trial_recorder import TrialRecorder
from appliance.hear.turn import turn_judge
from appliance.hear.utterance_stream import SpeechSlot
from appliance.hear.words.backends import words_wanted
from appliance.hear.words.feed import KeywordFeed
from appliance.messages.commands import StateChanged
from appliance.messages.enrolling import (
    AskTake,
    BeginEnrolment,
    LearnEnrolment,
    OwnerVoiceChanged,
)
from appliance.messages.hearing import Onset, SetListening, Verdict, WordsHeard
from appliance.messages.registry import Message
from appliance.messages.trying import EndTrial, StartTrial
from appliance.messages.viewing import LiveView
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, SampleBuffer, Samples
from appliance.runtime.ipc.ring import RingReader
from appliance.runtime.process_table import TRIED
from appliance.runtime.worker import Worker

_PLAYED_FRAMES = 4 * RATE_HZ  # longer than a ring, so that a lagging listener finds its reference
_POLL_MS = 250
_IDLE_MS = 9  # poll interval while nothing sounds: two blocks of 5 ms at once
_STARVED_S = 0.5  # without a microphone sample; then the utterance or onset under way ends
_SILENCE = np.zeros(BLOCK_FRAMES, np.int16)


def main(work: Worker) -> None:
    """Process the microphone's sound until the worker is told to stop."""
    floor = work.floor
    # Serials continue after those of a crashed listener: the conductor expects them to rise.
    classifier = network.make_classifier(work.settings.state_path(), work.log)
    serial = max(floor.hold, floor.released)
    canceller = make_canceller(work.settings.hearing.echo, BLOCK_FRAMES)
    monitor = EchoMonitor(canceller, work.settings.state_path(), lambda: store.key(work.settings))
    monitor.restore()
    judge = turn_judge.make_judge(work.settings.hearing.turn, work.log)
    murmurs = murmur_judge.make_judge(work.settings.language, work.log)
    mic, played = work.reader("mic"), work.reader("played")
    pipeline = HearingPipeline(
        work.settings.hearing,
        serial=serial,
        classifier=classifier,
        canceller=canceller,
        judge=judge,
        murmurs=murmurs,
        again=mic.follows,
    )
    reference = SampleBuffer(_PLAYED_FRAMES)
    poll, idle_poll = select.poll(), select.poll()
    for fd in (work.stop_fd, work.channel.fileno()):
        poll.register(fd, select.POLLIN)
        idle_poll.register(fd, select.POLLIN)
    poll.register(mic.fileno(), select.POLLIN)
    work.report_ready()
    if floor.held:  # by a crashed listener, which can no longer send the verdict
        work.send(Verdict(floor.hold, "noise", 0))
    last_sound_s = last_beat_s = time.monotonic()
    lost, got_sound = 0, False
    output = _ListenerOutput(work, pipeline, monitor, Enrolling(work.settings, classifier))
    mail_fd = work.channel.fileno()
    while not work.stopping:
        # Halves the wake-ups while nothing sounds; those 5 ms of latency do not matter then.
        idle = got_sound and not (pipeline.active_serial or pipeline.answering)
        ready = idle_poll.poll(_IDLE_MS) if idle else poll.poll(_POLL_MS)
        if any(fd == mail_fd for fd, _ in ready):
            for message in work.pop_messages():
                output.handle(message)
        now = time.monotonic()
        got_sound = _process_slots(work, pipeline, mic, played, reference, output)
        if got_sound:
            last_sound_s = now
        elif now - last_sound_s > _STARVED_S:
            output.send(pipeline.flush())
        if mic.lost != lost:
            work.log.warning("too slow: lost %d ms of the microphone", 5 * (mic.lost - lost))
            lost = mic.lost
        if now - last_beat_s > _POLL_MS / 1000:
            work.beat()
            last_beat_s = now
            for line in monitor.pop_log_lines():
                work.log.warning("%s", line)
    monitor.close()
    output.enrolling.close()
    _close(judge, murmurs)


def _close(*judges: BackgroundJudge[float] | MurmurJudge | None) -> None:
    for judge in judges:
        if judge is not None:
            judge.close()


def _process_slots(
    work: Worker,
    pipeline: HearingPipeline,
    mic: RingReader,
    played: RingReader,
    reference: SampleBuffer,
    output: _ListenerOutput,
) -> bool:
    """Process all pending slots of the microphone. Returns whether there were any."""
    any_slot = False
    for slot in mic.read_all():
        any_slot = True
        for played_slot in played.read_all():
            reference.write(played_slot.index, played_slot.samples)
        if len(slot.samples) != BLOCK_FRAMES:
            continue  # the incomplete last block of a stream; the index jumps after it
        samples, played_samples = slot.samples, reference.read(slot.index, BLOCK_FRAMES)
        pipeline.mic_off = work.floor.microphone_off or output.ignores_speech
        output.send(
            pipeline.process(_SILENCE if pipeline.mic_off else samples, played_samples, slot.index)
        )
        output.feed_recogniser(slot.index)
        output.measure_levels(samples, played_samples, slot.index)
        output.follow_trial(samples, played_samples)
        output.monitor.on_frame()
    return any_slot


class _ListenerOutput:
    """Writes the listener's output: messages, rings `heard` and `near`, and the floor's `hold`.

    It also handles the messages that the listener receives.
    """

    def __init__(
        self, work: Worker, pipeline: HearingPipeline, monitor: EchoMonitor, enrolling: Enrolling
    ) -> None:
        self._work = work
        self.monitor = monitor
        self.enrolling = enrolling
        self._pipeline = pipeline
        self._heard_ring = work.writer("heard")
        self._feed = KeywordFeed()
        self._levels = LevelMeter()
        self.trials = TrialRecorder()
        self._echo: EchoMeter | None = None
        self._tried_ring = work.writer(TRIED) if work.ring(TRIED) is not None else None
        has_reader = words_wanted(work.settings)
        self._near_ring = work.writer("near") if has_reader else None  # else it has no reader
        if work.settings.mode != "open":  # until the first SetListening
            self.handle(SetListening(False, over_box=False))

    @property
    def ignores_speech(self) -> bool:
        """Whether the microphone's sound goes only to a trial or an enrolment."""
        return self.trials.ignores_speech or self.enrolling.ignores_speech

    def handle(self, message: Message) -> None:
        match message:
            case BeginEnrolment() | AskTake() | LearnEnrolment() | OwnerVoiceChanged():
                self._enrol(message)
            case StateChanged(state):
                self._enrol(message)
                if self._pipeline.answering and state not in {"speaking", "holding"}:
                    self.trials.forget()  # the answer that played the recording is over
                    if self._echo is not None:
                        self._echo.end()
                self._pipeline.answering = state in {"speaking", "holding"}
                self._feed.busy = state in {"thinking", "speaking", "holding"}
            case SetListening():
                self._feed.waiting = not (message.on and message.over_box)
                self.send(self._pipeline.set_listening(message))
            case WordsHeard():
                self._pipeline.on_words(message)
            case LiveView(on):
                self._levels.on = on
            case StartTrial(number, "tone" | "echo"):
                self._echo = EchoMeter(number)
            case StartTrial():
                off = self._work.floor.microphone_off
                self._work.send(self.trials.start(message, busy=self._busy, mic_off=off))
            case EndTrial():
                self._echo = None
                self._enrol(message)
                for reply in self.trials.cancel():
                    self._work.send(reply)

    @property
    def _busy(self) -> bool:
        return bool(self._pipeline.active_serial or self._pipeline.answering)

    def _enrol(self, message: EnrolmentRequest | EndTrial | StateChanged) -> None:
        off = self._work.floor.microphone_off
        for reply in self.enrolling.handle(message, busy=self._busy, mic_off=off):
            self._work.send(reply)

    def send(self, events: Iterable[HearingEvent]) -> None:
        for event in events:
            if isinstance(event, Onset):
                self._work.floor.hold = event.serial
            if isinstance(event, SpeechSlot):
                self._heard_ring.write(
                    event.samples,
                    index=event.index,
                    position=event.position,
                    stream=event.utterance,
                    flags=event.flags,
                )
            else:
                self._work.send(event)

    def feed_recogniser(self, index: int) -> None:
        """Write the block that was just processed to ring `near`, for the word recogniser."""
        if self._near_ring is None or self._pipeline.last_block is None:
            return
        samples = self._pipeline.last_block.samples
        for slot in self._feed.process(samples, index, self._pipeline.active_serial):
            self._near_ring.write(slot.samples, index=slot.at, stream=slot.turn, flags=slot.flags)

    def follow_trial(self, mic: Samples, played: Samples) -> None:
        """Pass a block to the running trials: the unprocessed microphone, and the loudspeaker."""
        if self._echo is not None and self._pipeline.last_block is not None:
            residue, busy = self._pipeline.last_block.samples, bool(self._pipeline.active_serial)
            self._echo.process(mic, residue, played, busy=busy)
            if self._echo.over:
                self._work.send(self._echo.finish(self.monitor.state))
                self._echo = None
        off = self._work.floor.microphone_off
        for reply in self.trials.process(mic, mic_off=off):
            self._work.send(reply)
        for message in self.enrolling.process(mic, mic_off=off):
            self._work.send(message)
        if self._tried_ring is not None:
            for number, samples in self.trials.pop_slots():
                self._tried_ring.write(samples, stream=number)

    def measure_levels(self, mic: Samples, played: Samples, index: int) -> None:
        """Measure the levels of the newest block of both voices, for the page."""
        if self._levels.on and self._pipeline.last_block is not None:
            recording = self.trials.recording or self.enrolling.recording
            owner = mic if recording else self._pipeline.last_block.samples
            levels = self._levels.process(owner, played, index)
            if levels is not None:
                self._work.send(levels)
