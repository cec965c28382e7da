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
def start_thread() -> Iterator[Callable[..., Running]]:
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
    start_thread: Begin,
) -> None:
    running = start_thread(SlowModel(4))
    running.thread.submit(lambda session: session.load_turns([("hi", "", "Hello.")]))
    running.thread.start()
    running.until(lambda: running.thread.ready)
    assert running.model.log == ["piece"] * 4 + ["ThinkerReady"]


def test_the_thread_is_not_ready_before_the_recall(start_thread: Begin) -> None:
    running = start_thread(SlowModel(1))
    running.thread.start()
    running.until(lambda: running.thread.idle and running.model.left == 0)
    running.thread.submit(lambda session: running.model.log.append("a job"))
    running.until(lambda: "a job" in running.model.log)
    assert not running.thread.ready
    running.model.left = 2
    running.thread.submit(lambda session: session.load_turns([]))
    running.until(lambda: running.thread.ready)
    assert running.model.log == ["piece", "a job", "piece", "piece", "ThinkerReady"]


def test_the_wait_for_the_memory_is_limited(start_thread: Begin) -> None:
    running = start_thread(SlowModel(2), recall_s=0.0)
    running.thread.start()
    running.until(lambda: running.told(ThinkerReady))


def test_a_question_precedes_the_next_piece_and_reads_the_rest(
    start_thread: Begin,
) -> None:
    running = start_thread(SlowModel(9))

    def ask(left: int) -> None:
        if left == 6:
            running.thread.submit(lambda session: session.think(1, [], "why?", 0.0))

    running.model.before_piece = ask
    running.thread.submit(lambda session: session.load_turns([]))
    running.thread.start()
    running.until(lambda: running.thread.ready)
    assert running.model.log == [
        *["piece"] * 4, "answer", "Sentence", "ThoughtEnded", "ThinkerReady"
    ]  # fmt: skip
    assert running.told(ThoughtEnded)


def test_a_hanging_piece_is_unhealthy(start_thread: Begin) -> None:
    running = start_thread(SlowModel(3))
    looked: list[bool] = []

    def hang(left: int) -> None:
        if left == 2:
            looked.extend(running.thread.is_healthy(now_s) for now_s in (100.0, 100.5, 101.5))

    running.model.before_piece = hang
    running.thread.submit(lambda session: session.load_turns([]))
    running.thread.start()
    running.until(lambda: running.thread.ready)
    assert looked == [True, True, False]
    assert running.thread.is_healthy(200.0)  # nothing left to do


# ── transcription ────────────────────────────────────────────────────────────────────────────────
def spoken(turn: int, session: ModelSession) -> None:
    """A spoken question whose answer was heard."""
    session.think(turn, [SpeechClip(turn, np.zeros(1600, np.int16))], "", 0.0)
    session.record_heard(turn, "Yes.", complete=True)


def run_turns(running: Running, *turns: int) -> None:
    """Start the thread and run it through these turns."""
    running.thread.submit(lambda session: session.load_turns([]))
    for turn in turns:
        running.thread.submit(partial(spoken, turn))
    running.thread.start()
    running.until(lambda: running.thread.ready)


def test_once_idle_every_turn_is_transcribed_oldest_first(start_thread: Begin) -> None:
    running = start_thread(SlowModel(0), idle_s=0.02)
    running.thread.writes = True
    run_turns(running, 1, 2)
    running.until(lambda: running.model.log.count("Transcribed") == 2)
    transcripts = [message for message in running.sent if isinstance(message, Transcribed)]
    assert transcripts == [Transcribed(1, "words 1"), Transcribed(2, "words 2")]
    running.thread.submit(lambda session: running.model.log.append("a job"))
    running.until(lambda: running.model.log[-1] == "a job")
    assert running.model.log.count("writes") == 2


def test_nothing_is_transcribed_if_nothing_is_saved(start_thread: Begin) -> None:
    running = start_thread(SlowModel(0), idle_s=0.001)
    run_turns(running, 1)
    done: list[ModelSession] = []
    for number in range(20):  # each after a period without work
        running.thread.submit(done.append)
        running.until(lambda number=number: len(done) > number)  # type: ignore[misc]
        running.until(lambda: running.thread.idle)
    assert "writes" not in running.model.log


def test_nothing_is_transcribed_while_there_is_work(start_thread: Begin) -> None:
    running = start_thread(SlowModel(0))  # the idle time of a minute does not pass here
    running.thread.writes = True
    run_turns(running, 1, 2)
    assert "writes" not in running.model.log


def test_a_question_interrupts_a_transcription_which_is_repeated_later(start_thread: Begin) -> None:
    running = start_thread(SlowModel(0), idle_s=0.02)
    running.thread.writes = True

    def asked_meanwhile() -> None:
        if "answer again" in running.model.log:
            return
        running.model.log.append("answer again")
        running.thread.submit(lambda session: session.think(2, [], "and?", 0.0))
        assert running.model.interrupted
        raise AnswerAbandoned

    running.model.while_writing = asked_meanwhile
    run_turns(running, 1)
    running.until(lambda: running.told(Transcribed))
    writing = running.model.log[running.model.log.index("writes") :]
    assert writing == [
        "writes", "answer again", "answer", "Sentence", "ThoughtEnded", "writes", "Transcribed",
    ]  # fmt: skip
    assert not running.model.interrupted


def test_a_turn_forgotten_meanwhile_is_not_transcribed(start_thread: Begin) -> None:
    running = start_thread(SlowModel(0), idle_s=0.02)
    running.thread.writes = True

    def forget_meanwhile() -> None:
        running.thread.submit(lambda session: session.forget())
        raise AnswerAbandoned

    running.model.while_writing = forget_meanwhile
    run_turns(running, 1)
    running.until(lambda: "writes" in running.model.log)
    running.thread.submit(lambda session: running.model.log.append("forgotten"))
    running.until(lambda: running.model.log[-1] == "forgotten")
    running.thread.submit(lambda session: running.model.log.append("later"))
    running.until(lambda: running.model.log[-1] == "later")
    assert not running.told(Transcribed)
