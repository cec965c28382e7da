"""The model's thread: what is asked goes before what is read ahead, and when it counts as ready."""

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


class Slow:
    """A Model that has so many pieces to read. `log` is what it did, in order."""

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
    """A thread at work with that model."""

    def __init__(self, model: Slow, recall_s: float = 60.0, idle_s: float = 60.0) -> None:
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
    for one in made:
        one.thread.stop()
        assert one.thread.problem is None


Begin = Callable[..., Running]


def test_it_is_ready_when_all_is_read_that_stands_before_the_first_question(
    running: Begin,
) -> None:
    it = running(Slow(4))
    it.thread.submit(lambda session: session.load_turns([("hi", "", "Hello.")]))
    it.thread.start()
    it.until(lambda: it.thread.ready)
    assert it.model.log == ["piece"] * 4 + ["ThinkerReady"]


def test_without_what_is_to_be_recalled_it_is_not_ready(running: Begin) -> None:
    it = running(Slow(1))
    it.thread.start()
    it.until(lambda: it.thread.idle and it.model.left == 0)
    it.thread.submit(lambda session: it.model.log.append("a job"))
    it.until(lambda: "a job" in it.model.log)
    assert not it.thread.ready
    it.model.left = 2
    it.thread.submit(lambda session: session.load_turns([]))
    it.until(lambda: it.thread.ready)
    assert it.model.log == ["piece", "a job", "piece", "piece", "ThinkerReady"]


def test_a_memory_that_does_not_answer_is_waited_for_only_so_long(running: Begin) -> None:
    it = running(Slow(2), recall_s=0.0)
    it.thread.start()
    it.until(lambda: it.told(ThinkerReady))


def test_a_question_goes_before_the_next_piece_and_what_was_left_is_not_read_again(
    running: Begin,
) -> None:
    it = running(Slow(9))

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


def test_a_piece_that_hangs_is_no_life(running: Begin) -> None:
    it = running(Slow(3))
    looked: list[bool] = []

    def hang(left: int) -> None:
        if left == 2:
            looked.extend(it.thread.is_healthy(now_s) for now_s in (100.0, 100.5, 101.5))

    it.model.before_piece = hang
    it.thread.submit(lambda session: session.load_turns([]))
    it.thread.start()
    it.until(lambda: it.thread.ready)
    assert looked == [True, True, False]
    assert it.thread.is_healthy(200.0)  # nothing is left to do


# ── what was said is written down ────────────────────────────────────────────────────────────
def spoken(turn: int, session: ModelSession) -> None:
    """A question that was said aloud, answered, and its answer heard."""
    session.think(turn, [SpeechClip(turn, np.zeros(1600, np.int16))], "", 0.0)
    session.record_heard(turn, "Yes.", complete=True)


def talked(it: Running, *turns: int) -> None:
    """The thread runs, and has been through these turns."""
    it.thread.submit(lambda session: session.load_turns([]))
    for turn in turns:
        it.thread.submit(partial(spoken, turn))
    it.thread.start()
    it.until(lambda: it.thread.ready)


def test_once_nobody_waits_every_turn_is_written_down_oldest_first(running: Begin) -> None:
    it = running(Slow(0), idle_s=0.02)
    it.thread.writes = True
    talked(it, 1, 2)
    it.until(lambda: it.model.log.count("Transcribed") == 2)
    told = [each for each in it.sent if isinstance(each, Transcribed)]
    assert told == [Transcribed(1, "words 1"), Transcribed(2, "words 2")]
    it.thread.submit(lambda session: it.model.log.append("a job"))
    it.until(lambda: it.model.log[-1] == "a job")
    assert it.model.log.count("writes") == 2


def test_nothing_is_written_down_where_nothing_is_kept(running: Begin) -> None:
    it = running(Slow(0), idle_s=0.001)
    talked(it, 1)
    done: list[ModelSession] = []
    for number in range(20):  # each after a while in which nothing was to be done
        it.thread.submit(done.append)
        it.until(lambda number=number: len(done) > number)  # type: ignore[misc]
        it.until(lambda: it.thread.idle)
    assert "writes" not in it.model.log


def test_nothing_is_written_down_as_long_as_there_is_something_to_do(running: Begin) -> None:
    it = running(Slow(0))  # a minute without anything to do does not pass here
    it.thread.writes = True
    talked(it, 1, 2)
    assert "writes" not in it.model.log


def test_a_question_ends_the_writing_at_once_and_it_goes_on_afterwards(running: Begin) -> None:
    it = running(Slow(0), idle_s=0.02)
    it.thread.writes = True

    def asked_meanwhile() -> None:
        if "answer again" in it.model.log:
            return
        it.model.log.append("answer again")
        it.thread.submit(lambda session: session.think(2, [], "and?", 0.0))
        assert it.model.interrupted
        raise AnswerAbandoned

    it.model.while_writing = asked_meanwhile
    talked(it, 1)
    it.until(lambda: it.told(Transcribed))
    writing = it.model.log[it.model.log.index("writes") :]
    assert writing == [
        "writes", "answer again", "answer", "Sentence", "ThoughtEnded", "writes", "Transcribed",
    ]  # fmt: skip
    assert not it.model.interrupted


def test_what_is_forgotten_meanwhile_is_not_written_down(running: Begin) -> None:
    it = running(Slow(0), idle_s=0.02)
    it.thread.writes = True

    def forget_meanwhile() -> None:
        it.thread.submit(lambda session: session.forget())
        raise AnswerAbandoned

    it.model.while_writing = forget_meanwhile
    talked(it, 1)
    it.until(lambda: "writes" in it.model.log)
    it.thread.submit(lambda session: it.model.log.append("forgotten"))
    it.until(lambda: it.model.log[-1] == "forgotten")
    it.thread.submit(lambda session: it.model.log.append("later"))
    it.until(lambda: it.model.log[-1] == "later")
    assert not it.told(Transcribed)
