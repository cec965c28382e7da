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
from appliance.hear.bargein import network
from appliance.hear.echo_meter import EchoMeter
from appliance.hear.enrolling import Enrolling, EnrolmentRequest
from appliance.hear.level_meter import LevelMeter
from appliance.hear.pipeline import HearingEvent, HearingPipeline
from appliance.hear.trial_recorder import TrialRecorder
from appliance.hear.turn.turn_judge import make_judge
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
    cancels = make_canceller(work.settings.hearing.echo, BLOCK_FRAMES)
    watch = EchoMonitor(cancels, work.settings.state_path(), lambda: store.key(work.settings))
    watch.restore()
    judge = make_judge(work.settings.hearing.turn, work.log)
    hearing = HearingPipeline(
        work.settings.hearing,
        serial=serial,
        classifier=classifier,
        canceller=cancels,
        judge=judge,
    )
    mic, played = work.reader("mic"), work.reader("played")
    reference = SampleBuffer(_PLAYED_FRAMES)
    poll, look = select.poll(), select.poll()
    for fd in (work.stop_fd, work.channel.fileno()):
        poll.register(fd, select.POLLIN)
        look.register(fd, select.POLLIN)
    poll.register(mic.fileno(), select.POLLIN)
    work.report_ready()
    if floor.held:  # by a crashed listener, which can no longer send the verdict
        work.send(Verdict(floor.hold, "noise", 0))
    fed_at = beaten_at = time.monotonic()
    lost, comes = 0, False
    out = _ListenerOutput(work, hearing, watch, Enrolling(work.settings, classifier))
    mail_fd = work.channel.fileno()
    while not work.stopping:
        # Halves the wake-ups while nothing sounds; those 5 ms of latency do not matter then.
        idle = comes and not (hearing.active_serial or hearing.answering)
        ready = look.poll(_IDLE_MS) if idle else poll.poll(_POLL_MS)
        if any(fd == mail_fd for fd, _ in ready):
            for message in work.pop_messages():
                out.handle(message)
        now = time.monotonic()
        comes = _process_slots(work, hearing, mic, played, reference, out)
        if comes:
            fed_at = now
        elif now - fed_at > _STARVED_S:
            out.send(hearing.flush())
        if mic.lost != lost:
            work.log.warning("too slow: lost %d ms of the microphone", 5 * (mic.lost - lost))
            lost = mic.lost
        if now - beaten_at > _POLL_MS / 1000:
            work.beat()
            beaten_at = now
            for sentence in watch.pop_log_lines():
                work.log.warning("%s", sentence)
    watch.close()
    out.enrolling.close()
    if judge is not None:
        judge.close()


def _process_slots(
    work: Worker,
    hearing: HearingPipeline,
    mic: RingReader,
    played: RingReader,
    reference: SampleBuffer,
    out: _ListenerOutput,
) -> bool:
    """Process all pending slots of the microphone. Returns whether there were any."""
    came = False
    for slot in mic.read_all():
        came = True
        for sounded in played.read_all():
            reference.write(sounded.index, sounded.samples)
        if len(slot.samples) != BLOCK_FRAMES:
            continue  # the incomplete last block of a stream; the index jumps after it
        samples, echo_of = slot.samples, reference.read(slot.index, BLOCK_FRAMES)
        hearing.mic_off = work.floor.microphone_off or out.deaf
        out.send(hearing.process(_SILENCE if hearing.mic_off else samples, echo_of, slot.index))
        out.feed_recogniser(slot.index)
        out.measure_levels(samples, echo_of, slot.index)
        out.follow_trial(samples, echo_of)
        out.watch.on_frame()
    return came


class _ListenerOutput:
    """Writes the listener's output: messages, rings `heard` and `near`, and the floor's `hold`.

    It also handles the messages that the listener receives.
    """

    def __init__(
        self, work: Worker, hearing: HearingPipeline, watch: EchoMonitor, enrolling: Enrolling
    ) -> None:
        self._work = work
        self.watch = watch
        self.enrolling = enrolling
        self._hearing = hearing
        self._heard = work.writer("heard")
        self._near = KeywordFeed()
        self._levels = LevelMeter()
        self.trials = TrialRecorder()
        self._echo: EchoMeter | None = None
        self._tried = work.writer(TRIED) if work.ring(TRIED) is not None else None
        wanted = words_wanted(work.settings)
        self._near_ring = work.writer("near") if wanted else None  # else it has no reader
        if work.settings.mode != "open":  # until the first SetListening
            self.handle(SetListening(False, over_box=False))

    @property
    def deaf(self) -> bool:
        """Whether the microphone's sound goes only to a trial or an enrolment."""
        return self.trials.deaf or self.enrolling.deaf

    def handle(self, message: Message) -> None:
        match message:
            case BeginEnrolment() | AskTake() | LearnEnrolment() | OwnerVoiceChanged():
                self._enrol(message)
            case StateChanged(state):
                self._enrol(message)
                if self._hearing.answering and state not in {"speaking", "holding"}:
                    self.trials.forget()  # the answer that played the recording is over
                    if self._echo is not None:
                        self._echo.end()
                self._hearing.answering = state in {"speaking", "holding"}
                self._near.busy = state in {"thinking", "speaking", "holding"}
            case SetListening():
                self._near.waiting = not (message.on and message.over_box)
                self.send(self._hearing.set_listening(message))
            case WordsHeard():
                self._hearing.on_words(message)
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
                for told in self.trials.cancel():
                    self._work.send(told)

    @property
    def _busy(self) -> bool:
        return bool(self._hearing.active_serial or self._hearing.answering)

    def _enrol(self, message: EnrolmentRequest | EndTrial | StateChanged) -> None:
        off = self._work.floor.microphone_off
        for told in self.enrolling.handle(message, busy=self._busy, mic_off=off):
            self._work.send(told)

    def send(self, events: Iterable[HearingEvent]) -> None:
        for event in events:
            if isinstance(event, Onset):
                self._work.floor.hold = event.serial
            if isinstance(event, SpeechSlot):
                self._heard.write(
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
        if self._near_ring is None or self._hearing.last_block is None:
            return
        samples = self._hearing.last_block.samples
        for piece in self._near.process(samples, index, self._hearing.active_serial):
            self._near_ring.write(
                piece.samples, index=piece.at, stream=piece.turn, flags=piece.flags
            )

    def follow_trial(self, mic: Samples, played: Samples) -> None:
        """Pass a block to the running trials: the unprocessed microphone, and the loudspeaker."""
        if self._echo is not None and self._hearing.last_block is not None:
            left, busy = self._hearing.last_block.samples, bool(self._hearing.active_serial)
            self._echo.process(mic, left, played, busy=busy)
            if self._echo.over:
                self._work.send(self._echo.finish(self.watch.state))
                self._echo = None
        off = self._work.floor.microphone_off
        for told in self.trials.process(mic, mic_off=off):
            self._work.send(told)
        for news in self.enrolling.process(mic, mic_off=off):
            self._work.send(news)
        if self._tried is not None:
            for number, samples in self.trials.pop_slots():
                self._tried.write(samples, stream=number)

    def measure_levels(self, mic: Samples, played: Samples, index: int) -> None:
        """Measure the levels of the newest block of both voices, for the page."""
        if self._levels.on and self._hearing.last_block is not None:
            recording = self.trials.recording or self.enrolling.recording
            heard = mic if recording else self._hearing.last_block.samples
            levels = self._levels.process(heard, played, index)
            if levels is not None:
                self._work.send(levels)
