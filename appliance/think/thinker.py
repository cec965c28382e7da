"""The thinker: the owner's speech from the ring `heard` in, sentences out. [process]

Two threads. The main thread reads the ring and the messages and sends heartbeats, whatever the
model does; ModelThread runs the model. The main thread passes it jobs through a queue, and
interrupts a running job directly.
"""

from __future__ import annotations

import queue
import select
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Literal

from appliance.messages.commands import Forget, ForgetTurn, StatusWanted
from appliance.messages.registry import Message as AnyMessage
from appliance.messages.thinking import (
    Abandon,
    AnswerHeard,
    Recall,
    RecallWanted,
    Sentence,
    Think,
    ThinkerReady,
    ThinkingProgress,
    ThoughtEnded,
)
from appliance.messages.tools import ToolAnswered, ToolCalled
from appliance.pcm import RATE_HZ
from appliance.runtime.ipc.floor import NO_READ_AHEAD
from appliance.runtime.ipc.ring import PAUSE, QUIET, RingSlot
from appliance.runtime.ipc.token_states import RingStates
from appliance.runtime.process_table import STATES
from appliance.runtime.worker import Worker
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.factory import choose
from appliance.think.history import SpeechClip
from appliance.think.interface import LanguageModel
from appliance.think.session import ModelSession
from appliance.think.speculative_prefill import SpeculativePrefill
from appliance.think.utterance_buffer import UtteranceBuffer

if TYPE_CHECKING:
    from appliance.think.local import LocalGemma  # would import llama.cpp

LOOK_MS = 200  # between two polls of the floor when nothing arrives, and between heartbeats
LOAD_S = 300.0  # 4 GB from a slow card; a model that is not loaded by then never will be
RECALL_S = 10.0  # timeout after loading for the turns from the memory, if the card stalls
STILL_S = 5.0  # between two ThinkingProgress messages for a question; less than `think_s`
STOP_S = 2.0  # timeout for the model's thread to end
IDLE_S = 5.0  # idle time before the last turns are transcribed for the memory
AHEAD_FRAMES = 10 * RATE_HZ  # clips from this length on are encoded before their question is asked

Job = Callable[[ModelSession], None]


class ModelThread:
    """The model's thread: loads the model, then runs jobs one by one. While there are none, it
    prefills the next prompt in pieces, transcribes past turns and prepares the next start.

    `problem`: the exception that ended the thread. `ready`: all that precedes the first question is
    prefilled. `sent_turn`: the newest turn of which something was sent. `writes`: transcription is
    allowed; it starts after `idle_s` without a job. `make_session` returns a session for a model
    and a function that sends its messages.
    """

    def __init__(
        self,
        load: Callable[[], LanguageModel],
        send: Callable[[AnyMessage], object],
        recall_s: float = RECALL_S,
        idle_s: float = IDLE_S,
        make_session: Callable[
            [LanguageModel, Callable[[AnyMessage], object]], ModelSession
        ] = ModelSession,
    ) -> None:
        self._load = load
        self._make_session = make_session
        self._idle_s = idle_s
        self.writes = False
        self._recall_s = recall_s
        self._send = send
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="model", daemon=True)
        self.session: ModelSession | None = None
        self.problem: BaseException | None = None
        self.ready = False
        self.sent_turn = -1
        self._dropped_up_to = -1
        self._activity: Literal["nothing", "reading", "a job"] = "a job"
        self._last_progress = (0, time.monotonic())  # the value, and when it was reached

    def start(self) -> None:
        self._thread.start()

    @property
    def idle(self) -> bool:
        """Whether no job is running or waiting."""
        return self._activity != "a job" and self._jobs.empty()

    @property
    def progress(self) -> int:
        """Rises with every step of the model's work."""
        return self.session.model.progress if self.session is not None else 0

    def submit(self, job: Job, question: Iterable[SpeechClip] | None = None) -> None:
        """Queue a job. `question`: the clips of the question that the job answers."""
        self._jobs.put(job)
        if self.session is not None:
            self.session.preempt_idle(question)

    def drop_up_to(self, turn: int) -> None:
        """Drop answers up to `turn`."""
        self._dropped_up_to = max(self._dropped_up_to, turn)
        if self.session is not None:
            self.session.drop_up_to(turn)

    def stop(self) -> None:
        """Stop the thread; wait for it at most STOP_S."""
        if self.session is not None:
            self.session.stop()
        self._jobs.put(None)
        self._thread.join(STOP_S)

    def send_ready(self) -> None:
        """Send ThinkerReady with the model's name, if it is ready."""
        if self.ready and self.session is not None:
            self._send(ThinkerReady(self.session.model.name))

    def is_healthy(self, now_s: float) -> bool:
        """Whether the thread is idle or has made progress within the timeout."""
        progress = self.progress
        if self._activity == "nothing" or progress != self._last_progress[0]:
            self._last_progress = (progress, now_s)
        patience_s = self.session.model.patience_s if self.session is not None else LOAD_S
        return now_s - self._last_progress[1] < patience_s

    def _run(self) -> None:
        try:
            model = self._load()
            self.session = session = self._make_session(model, self._send_tracked)
            session.drop_up_to(self._dropped_up_to)
            self._serve(session)
            session.save_snapshot()
            model.close()
        except BaseException as error:  # noqa: BLE001 - the main thread raises it again
            self.problem = error

    def _send_tracked(self, message: AnyMessage) -> None:
        if isinstance(message, Sentence | ToolCalled | ThoughtEnded):
            self.sent_turn = max(self.sent_turn, message.turn)
        self._send(message)

    def _serve(self, session: ModelSession) -> None:
        loaded_s = time.monotonic()
        unread = True
        while True:
            try:
                if unread and self._jobs.empty():
                    self._activity = "reading"
                    unread = not session.prefill_idle()
                    continue
                waited = session.recalled or time.monotonic() - loaded_s >= self._recall_s
                if waited and not (unread or self.ready):
                    self.ready = True  # before sending: speech may arrive right after
                    self.send_ready()
                try:
                    job = self._next_job(self._idle_s if self.ready else LOOK_MS / 1000)
                except queue.Empty:
                    if self.ready and self.writes:
                        self._activity = "reading"
                        session.transcribe_idle(self.wanted)
                        session.prepare_next_start(self.wanted)
                    continue
                if job is None:
                    return
                self._activity, unread = "a job", True
                job(session)
            except AnswerAbandoned:
                continue  # the rest of the interrupted work is done later

    def wanted(self) -> bool:
        """Whether a job is waiting."""
        return not self._jobs.empty()

    def _next_job(self, within_s: float) -> Job | None:
        """Return the next job. Raises queue.Empty if none arrives within `within_s`."""
        self._activity = "nothing" if self._jobs.empty() else "a job"
        return self._jobs.get(timeout=within_s)


class ThinkerInbox:
    """Reads speech and messages and submits them to the model's thread as jobs."""

    def __init__(self, work: Worker, thread: ModelThread) -> None:
        self._work = work
        self._thread = thread
        self._utterances = UtteranceBuffer()
        self._speculative = SpeculativePrefill()
        self._ring = work.reader("heard", resume=True)
        self._lost = 0
        self._received_frames = 0  # samples
        self._stale = -1
        self._asked_turn = -1
        self._last_report = (0, 0.0)  # progress and time of the last check in `_send_progress`

    def fileno(self) -> int:
        """The eventfd of the ring."""
        return self._ring.fileno()

    def poll(self, now_s: float) -> None:
        """Handle all that has arrived. Messages are fetched before the ring is read, so that the
        speech that they name is already in the ring."""
        messages = self._work.pop_messages()
        while (slot := self._ring.read()) is not None:
            clip = self._utterances.push(slot, now_s)
            self._received_frames += len(slot.samples)
            if self._work.floor.strain >= NO_READ_AHEAD or not self._thread.ready:
                continue
            if clip is not None and len(clip.samples) >= AHEAD_FRAMES:
                self._thread.submit(partial(_encode_ahead, clip=clip))
            self._prefill_partial(slot)
        if self._ring.lost != self._lost:
            self._lost = self._ring.lost
            self._work.log.warning("lost %d slots of speech so far", self._lost)
        for message in messages:
            self._handle(message, now_s)
        stale = self._work.floor.turn - 1
        if stale != self._stale:
            self._stale = stale
            self._thread.drop_up_to(stale)
        keep = self._work.settings.memory.keep_turns > 0
        self._thread.writes = keep and self._work.floor.strain < NO_READ_AHEAD
        self._send_progress(now_s)

    def _send_progress(self, now_s: float) -> None:
        """Send ThinkingProgress if the model has progressed with an answer not yet started."""
        progress, since_s = self._last_report
        if self._asked_turn > self._thread.sent_turn and now_s - since_s >= STILL_S:
            self._last_report = self._thread.progress, now_s
            if self._thread.progress != progress:
                self._work.send(ThinkingProgress(self._asked_turn))

    def _prefill_partial(self, slot: RingSlot) -> None:
        paused, quiet = bool(slot.flags & PAUSE), bool(slot.flags & QUIET)
        frames = slot.position + len(slot.samples)
        idle = self._thread.idle
        if self._speculative.due(slot.stream, frames, paused=paused, quiet=quiet, idle=idle):
            clips = self._utterances.so_far(slot.stream)
            if clips:
                wanted = partial(self._newer_input, self._received_frames)
                self._thread.submit(partial(_prefill_partial, clips, paused, wanted))

    def _newer_input(self, received_frames: int) -> bool:
        """Whether more speech has arrived or a job waits, so that sampling ahead should end."""
        return self._received_frames != received_frames or self._thread.wanted()

    def _handle(self, message: AnyMessage, now_s: float) -> None:
        match message:
            case Think(turn, utterances, text):
                self._think(turn, utterances, text, now_s)
            case Abandon(turn):
                self._thread.drop_up_to(turn)
                self._thread.submit(lambda session: session.abandon(turn))
            case AnswerHeard(turn, text, complete):
                if not complete:
                    self._thread.drop_up_to(turn)
                self._thread.submit(
                    lambda session: session.record_heard(turn, text, complete=complete)
                )
            case Recall(turns):
                self._thread.submit(lambda session: session.load_turns(turns))
            case ToolAnswered(turn, call, text):
                self._thread.submit(lambda session: session.record_tool_answer(turn, call, text))
            case Forget(last):
                self._thread.submit(lambda session: session.forget(last=last))
            case ForgetTurn():
                self._thread.submit(lambda session: session.reload_history())
            case StatusWanted():
                self._thread.send_ready()
            case _:
                self._work.log.warning("a %s is not for the thinker", type(message).__name__)

    def _think(self, turn: int, utterances: tuple[int, ...], text: str, now_s: float) -> None:
        question = self._utterances.pop(utterances)
        if question.missing:
            self._work.log.warning("no sound of utterances %s", question.missing)
        if question.dropped_s:
            self._work.log.warning("kept the end of a long speech; %.0f s of its beginning "
                                   "were dropped", question.dropped_s)  # fmt: skip
        if not question.clips and not text:
            problem = "What the owner said was lost on its way. Ask again."
            self._work.send(ThoughtEnded(turn, 0, "failed", problem))
            return
        self._thread.drop_up_to(turn - 1)
        self._asked_turn, self._last_report = turn, (self._thread.progress, now_s)
        self._thread.submit(
            lambda session: session.think(turn, question.clips, text, now_s), question.clips
        )


def _encode_ahead(session: ModelSession, clip: SpeechClip) -> None:
    session.encode_ahead(clip)


def _prefill_partial(
    clips: tuple[SpeechClip, ...],
    likely_all: bool,
    wanted: Callable[[], bool],
    session: ModelSession,
) -> None:
    session.prefill_partial(clips, likely_all=likely_all)
    if likely_all:
        session.draw_ahead(clips, wanted)


def main(work: Worker, kind: Callable[..., LocalGemma] | None = None) -> None:
    """Run the thinker. `kind`: the class of a model on this box, if not LocalGemma."""
    make_session = partial(ModelSession, recall_turns=work.settings.memory.recall_turns)
    states = RingStates(work.writer(STATES)) if work.ring(STATES) is not None else None
    load = choose(work.settings, work.row, states, kind)
    thread = ModelThread(load, work.send, make_session=make_session)
    inbox = ThinkerInbox(work, thread)
    poll = select.poll()
    for fd in (work.stop_fd, work.channel.fileno(), inbox.fileno()):
        poll.register(fd, select.POLLIN)
    work.send(RecallWanted())
    thread.start()
    ready, loading_reported, heartbeat_s = False, False, 0.0
    while not work.stopping:
        poll.poll(LOOK_MS)
        now_s = time.monotonic()
        inbox.poll(now_s)
        if thread.problem is not None:
            raise thread.problem
        if not loading_reported and thread.session is not None:
            loading_reported = True
            work.report_loading()
        if not ready and thread.ready:
            ready = True
            work.report_ready()
        if now_s - heartbeat_s >= LOOK_MS / 1000 and thread.is_healthy(now_s):
            heartbeat_s = now_s
            work.beat()
    thread.stop()
