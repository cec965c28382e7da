"""The model's thread: questions precede idle work; when it is ready and healthy."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial

import numpy as np
import pytest

from appliance.messages.registry import Message
from appliance.messages.thinking import ThinkerReady, ThoughtEnded, Transcribed
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.session import ModelSession
from appliance.think.thinker import ModelThread


class SlowModel:
    """A LanguageModel with so many pieces to prefill. `log`: what it did, in order."""

    name = "slow"
    patience_s = 1.0
    recall_cache = None

    def __init__(self, pieces: int) -> None:
        self.left = pieces
        self.progress = 0
        self.log: list[str] = []
        self.before_piece: Callable[[int], object] = lambda left: None
        self.while_writing: Callable[[], object] = lambda: None
        self.interrupted = False

    def prefill_idle(self, history: History) -> bool:
        if self.left:
            self.before_piece(self.left)
            self.left -= 1
            self.progress += 1
            self.log.append("piece")
        return not self.left

    def answer(self, history: History, effort: AnswerMetrics) -> Iterator[str]:
        self.log.append("answer")
        self.left = 0  # what was left to be read is part of the prompt
        yield "Yes."

    def transcribe(self, clips: Sequence[SpeechClip]) -> str:
        self.log.append("writes")
        self.while_writing()
        return f"words {clips[0].utterance}"

    def encode_ahead(self, clip: SpeechClip) -> None: ...
    def prefill_partial(self, history: History, *, likely_all: bool) -> None: ...
    def draw_ahead(self, history: History) -> Generator[str]:
        yield from ()

    def preempt_idle(self) -> None: ...

    def interrupt(self) -> None:
        self.interrupted = True

    def resume(self) -> None:
        self.interrupted = False

    def close(self) -> None: ...


class Running:
    """A ModelThread with this model."""

    def __init__(self, model: SlowModel, recall_s: float = 60.0, idle_s: float = 60.0) -> None:
        self.model = model
        self.sent: list[Message] = []
        self.thread = ModelThread(lambda: model, self._take, recall_s, idle_s)

    def _take(self, message: Message) -> None:
        self.sent.append(message)
        self.model.log.append(type(message).__name__)

    def until(self, done: Callable[[], object]) -> None:
        end_s = time.monotonic() + 10
        while not done():
            assert time.monotonic() < end_s, self.model.log
            time.sleep(0.001)

    def told(self, kind: type) -> bool:
        return any(isinstance(message, kind) for message in self.sent)


@pytest.fixture
def running() -> Iterator[Callable[..., Running]]:
    made: list[Running] = []

    def begin(*args: object, **kwargs: object) -> Running:
        made.append(Running(*args, **kwargs))  # type: ignore[arg-type]
        return made[-1]

    yield begin
    for started in made:
        started.thread.stop()
        assert started.thread.problem is None


Begin = Callable[..., Running]


def test_the_thread_is_ready_once_the_prompt_before_the_question_is_read(
    running: Begin,
) -> None:
    it = running(SlowModel(4))
    it.thread.submit(lambda session: session.load_turns([("hi", "", "Hello.")]))
    it.thread.start()
    it.until(lambda: it.thread.ready)
    assert it.model.log == ["piece"] * 4 + ["ThinkerReady"]


def test_the_thread_is_not_ready_before_the_recall(running: Begin) -> None:
    it = running(SlowModel(1))
    it.thread.start()
    it.until(lambda: it.thread.idle and it.model.left == 0)
    it.thread.submit(lambda session: it.model.log.append("a job"))
    it.until(lambda: "a job" in it.model.log)
    assert not it.thread.ready
    it.model.left = 2
    it.thread.submit(lambda session: session.load_turns([]))
    it.until(lambda: it.thread.ready)
    assert it.model.log == ["piece", "a job", "piece", "piece", "ThinkerReady"]


def test_the_wait_for_the_memory_is_limited(running: Begin) -> None:
    it = running(SlowModel(2), recall_s=0.0)
    it.thread.start()
    it.until(lambda: it.told(ThinkerReady))


def test_a_question_precedes_the_next_piece_and_reads_the_rest(
    running: Begin,
) -> None:
    it = running(SlowModel(9))

    def ask(left: int) -> None:
        if left == 6:
            it.thread.submit(lambda session: session.think(1, [], "why?", 0.0))

    it.model.before_piece = ask
    it.thread.submit(lambda session: session.load_turns([]))
    it.thread.start()
    it.until(lambda: it.thread.ready)
    assert it.model.log == [
        *["piece"] * 4, "answer", "Sentence", "ThoughtEnded", "ThinkerReady"
    ]  # fmt: skip
    assert it.told(ThoughtEnded)


def test_a_hanging_piece_is_unhealthy(running: Begin) -> None:
    it = running(SlowModel(3))
    looked: list[bool] = []

    def hang(left: int) -> None:
        if left == 2:
            looked.extend(it.thread.is_healthy(now_s) for now_s in (100.0, 100.5, 101.5))

    it.model.before_piece = hang
    it.thread.submit(lambda session: session.load_turns([]))
    it.thread.start()
    it.until(lambda: it.thread.ready)
    assert looked == [True, True, False]
    assert it.thread.is_healthy(200.0)  # nothing left to do


# ── transcription ────────────────────────────────────────────────────────────────────────────────
def spoken(turn: int, session: ModelSession) -> None:
    """A spoken question whose answer was heard."""
    session.think(turn, [SpeechClip(turn, np.zeros(1600, np.int16))], "", 0.0)
    session.record_heard(turn, "Yes.", complete=True)


def run_turns(it: Running, *turns: int) -> None:
    """Start the thread and run it through these turns."""
    it.thread.submit(lambda session: session.load_turns([]))
    for turn in turns:
        it.thread.submit(partial(spoken, turn))
    it.thread.start()
    it.until(lambda: it.thread.ready)


def test_once_idle_every_turn_is_transcribed_oldest_first(running: Begin) -> None:
    it = running(SlowModel(0), idle_s=0.02)
    it.thread.writes = True
    run_turns(it, 1, 2)
    it.until(lambda: it.model.log.count("Transcribed") == 2)
    transcripts = [message for message in it.sent if isinstance(message, Transcribed)]
    assert transcripts == [Transcribed(1, "words 1"), Transcribed(2, "words 2")]
    it.thread.submit(lambda session: it.model.log.append("a job"))
    it.until(lambda: it.model.log[-1] == "a job")
    assert it.model.log.count("writes") == 2


def test_nothing_is_transcribed_if_nothing_is_saved(running: Begin) -> None:
    it = running(SlowModel(0), idle_s=0.001)
    run_turns(it, 1)
    done: list[ModelSession] = []
    for number in range(20):  # each after a period without work
        it.thread.submit(done.append)
        it.until(lambda number=number: len(done) > number)  # type: ignore[misc]
        it.until(lambda: it.thread.idle)
    assert "writes" not in it.model.log


def test_nothing_is_transcribed_while_there_is_work(running: Begin) -> None:
    it = running(SlowModel(0))  # the idle time of a minute does not pass here
    it.thread.writes = True
    run_turns(it, 1, 2)
    assert "writes" not in it.model.log


def test_a_question_interrupts_a_transcription_which_is_repeated_later(running: Begin) -> None:
    it = running(SlowModel(0), idle_s=0.02)
    it.thread.writes = True

    def asked_meanwhile() -> None:
        if "answer again" in it.model.log:
            return
        it.model.log.append("answer again")
        it.thread.submit(lambda session: session.think(2, [], "and?", 0.0))
        assert it.model.interrupted
        raise AnswerAbandoned

    it.model.while_writing = asked_meanwhile
    run_turns(it, 1)
    it.until(lambda: it.told(Transcribed))
    writing = it.model.log[it.model.log.index("writes") :]
    assert writing == [
        "writes", "answer again", "answer", "Sentence", "ThoughtEnded", "writes", "Transcribed",
    ]  # fmt: skip
    assert not it.model.interrupted


def test_a_turn_forgotten_meanwhile_is_not_transcribed(running: Begin) -> None:
    it = running(SlowModel(0), idle_s=0.02)
    it.thread.writes = True

    def forget_meanwhile() -> None:
        it.thread.submit(lambda session: session.forget())
        raise AnswerAbandoned

    it.model.while_writing = forget_meanwhile
    run_turns(it, 1)
    it.until(lambda: "writes" in it.model.log)
    it.thread.submit(lambda session: it.model.log.append("forgotten"))
    it.until(lambda: it.model.log[-1] == "forgotten")
    it.thread.submit(lambda session: it.model.log.append("later"))
    it.until(lambda: it.model.log[-1] == "later")
    assert not it.told(Transcribed)
