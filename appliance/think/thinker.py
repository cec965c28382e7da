"""The thinker: the owner's speech from the ring `heard` in, sentences out. [process]

Two threads. This one reads the ring and the mail and beats the heart, whatever the model does;
the other one is the model's. Between them go jobs, and, past them, the wish to stop.
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
    from appliance.think.local import LocalGemma  # llama.cpp: only where it is needed

LOOK_MS = 200  # between two looks at the floor when nothing arrives, and between heartbeats
LOAD_S = 300.0  # 4 GB from a slow card; a model that is not loaded by then never will be
RECALL_S = 10.0  # after loading, for the turns from memory; a card that stalls must not keep it
STILL_S = 5.0  # between two notes that the model gets on with a question; within `think_s`
STOP_S = 2.0  # for the model to let go
IDLE_S = 5.0  # nobody waits for so long: what was said is written down, for the memory
AHEAD_FRAMES = 10 * RATE_HZ  # clips from this length on are encoded before anybody asks

Job = Callable[[ModelSession], None]


class ModelThread:
    """The model's thread: loads the model, then does one job after the other, and while there is
    none has the model read ahead, a piece at a time, write down what was said, and prepare the
    next start.

    `problem` is what ended it before its time. `ready`: all that stands before the first question
    is read. `told`: the newest answer of which something was sent. `writes`: what was said is to be
    written down now; each time only when nothing was to be done for `idle_s`. `make_session`:
    from a model and what its messages go to.
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
        self.told = -1
        self._outdated = -1
        self._at: Literal["nothing", "reading", "a job"] = "a job"
        self._seen = (0, time.monotonic())  # the last pulse, and since when

    def start(self) -> None:
        self._thread.start()

    @property
    def idle(self) -> bool:
        """Nothing is done that somebody asked for."""
        return self._at != "a job" and self._jobs.empty()

    @property
    def progress(self) -> int:
        """Rises with every step of the model's work."""
        return self.session.model.progress if self.session is not None else 0

    def submit(self, job: Job, question: Iterable[SpeechClip] | None = None) -> None:
        """Have it done after all that was asked before. `question`: it answers these clips."""
        self._jobs.put(job)
        if self.session is not None:
            self.session.preempt_idle(question)

    def drop_up_to(self, turn: int) -> None:
        """Answers up to `turn` are wanted no more."""
        self._outdated = max(self._outdated, turn)
        if self.session is not None:
            self.session.drop_up_to(turn)

    def stop(self) -> None:
        """End it, if it ends in time."""
        if self.session is not None:
            self.session.stop()
        self._jobs.put(None)
        self._thread.join(STOP_S)

    def tell_ready(self) -> None:
        """Which model answers, if it is ready."""
        if self.ready and self.session is not None:
            self._send(ThinkerReady(self.session.model.name))

    def is_healthy(self, now_s: float) -> bool:
        """Idle, or getting on with its work."""
        pulse = self.progress
        if self._at == "nothing" or pulse != self._seen[0]:
            self._seen = (pulse, now_s)
        patience_s = self.session.model.patience_s if self.session is not None else LOAD_S
        return now_s - self._seen[1] < patience_s

    def _run(self) -> None:
        try:
            model = self._load()
            self.session = session = self._make_session(model, self._post)
            session.drop_up_to(self._outdated)
            self._serve(session)
            session.leave()
            model.close()
        except BaseException as error:  # noqa: BLE001 - the main thread raises it again
            self.problem = error

    def _post(self, message: AnyMessage) -> None:
        if isinstance(message, Sentence | ToolCalled | ThoughtEnded):
            self.told = max(self.told, message.turn)
        self._send(message)

    def _serve(self, session: ModelSession) -> None:
        loaded_s = time.monotonic()
        unread = True
        while True:
            try:
                if unread and self._jobs.empty():
                    self._at = "reading"
                    unread = not session.prefill_idle()
                    continue
                waited = session.recalled or time.monotonic() - loaded_s >= self._recall_s
                if waited and not (unread or self.ready):
                    self.ready = True  # first: speech may come as soon as it is told
                    self.tell_ready()
                try:
                    job = self._next(self._idle_s if self.ready else LOOK_MS / 1000)
                except queue.Empty:
                    if self.ready and self.writes:
                        self._at = "reading"
                        session.transcribe_idle(self.wanted)
                        session.get_ready(self.wanted)
                    continue
                if job is None:
                    return
                self._at, unread = "a job", True
                job(session)
            except AnswerAbandoned:
                continue  # what was left undone is done before the next answer

    def wanted(self) -> bool:
        """There is another job to be done."""
        return not self._jobs.empty()

    def _next(self, within_s: float) -> Job | None:
        """The next job. Raises queue.Empty if none comes within that time."""
        self._at = "nothing" if self._jobs.empty() else "a job"
        return self._jobs.get(timeout=within_s)


class ThinkerInbox:
    """What arrives, and where it goes."""

    def __init__(self, work: Worker, thread: ModelThread) -> None:
        self._work = work
        self._thread = thread
        self._utterances = UtteranceBuffer()
        self._speculative = SpeculativePrefill()
        self._ring = work.reader("heard", resume=True)
        self._lost = 0
        self._heard = 0  # samples
        self._stale = -1
        self._asked = -1
        self._still = (0, 0.0)  # pulse, and when, at the last note that the model gets on

    def fileno(self) -> int:
        """The ring's bell."""
        return self._ring.fileno()

    def poll(self, now_s: float) -> None:
        """Take in all that has arrived: mail first, for what it names is in the ring by then."""
        mail = self._work.pop_messages()
        while (slot := self._ring.read()) is not None:
            clip = self._utterances.push(slot, now_s)
            self._heard += len(slot.samples)
            if self._work.floor.strain >= NO_READ_AHEAD or not self._thread.ready:
                continue
            if clip is not None and len(clip.samples) >= AHEAD_FRAMES:
                self._thread.submit(partial(_encode_ahead, clip=clip))
            self._prefill_partial(slot)
        if self._ring.lost != self._lost:
            self._lost = self._ring.lost
            self._work.log.warning("lost %d slots of speech so far", self._lost)
        for message in mail:
            self._handle(message, now_s)
        stale = self._work.floor.turn - 1
        if stale != self._stale:
            self._stale = stale
            self._thread.drop_up_to(stale)
        keep = self._work.settings.memory.keep_turns > 0
        self._thread.writes = keep and self._work.floor.strain < NO_READ_AHEAD
        self._send_progress(now_s)

    def _send_progress(self, now_s: float) -> None:
        """While an answer is waited for: that the model gets on with it, if it does."""
        pulse, since_s = self._still
        if self._asked > self._thread.told and now_s - since_s >= STILL_S:
            self._still = self._thread.progress, now_s
            if self._thread.progress != pulse:
                self._work.send(ThinkingProgress(self._asked))

    def _prefill_partial(self, slot: RingSlot) -> None:
        paused, quiet = bool(slot.flags & PAUSE), bool(slot.flags & QUIET)
        frames = slot.position + len(slot.samples)
        idle = self._thread.idle
        if self._speculative.due(slot.stream, frames, paused=paused, quiet=quiet, idle=idle):
            clips = self._utterances.so_far(slot.stream)
            if clips:
                wanted = partial(self._newer_came, self._heard)
                self._thread.submit(partial(_prefill_partial, clips, paused, wanted))

    def _newer_came(self, heard: int) -> bool:
        """More speech than these slots, or another job: the prefill is to end."""
        return self._heard != heard or self._thread.wanted()

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
                self._thread.submit(lambda session: session.call_answered(turn, call, text))
            case Forget(last):
                self._thread.submit(lambda session: session.forget(last=last))
            case ForgetTurn():
                self._thread.submit(lambda session: session.begin_anew())
            case StatusWanted():
                self._thread.tell_ready()
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
        self._asked, self._still = turn, (self._thread.progress, now_s)
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
    """`kind`: what makes a model on this box, if it is not LocalGemma."""
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
    ready, reads, beaten_s = False, False, 0.0
    while not work.stopping:
        poll.poll(LOOK_MS)
        now_s = time.monotonic()
        inbox.poll(now_s)
        if thread.problem is not None:
            raise thread.problem
        if not reads and thread.session is not None:
            reads = True
            work.report_loading()
        if not ready and thread.ready:
            ready = True
            work.report_ready()
        if now_s - beaten_s >= LOOK_MS / 1000 and thread.is_healthy(now_s):
            beaten_s = now_s
            work.beat()
    thread.stop()
