"""A session with a model whose output the test scripts."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

from appliance.messages.registry import Message
from appliance.messages.thinking import ThoughtEnded
from appliance.think.abandoned import AnswerAbandoned
from appliance.think.history import History, SpeechClip
from appliance.think.interface import AnswerMetrics
from appliance.think.session import ModelSession


class ScriptedModel:
    """A LanguageModel that yields the given pieces; it calls a callable among them instead."""

    name = "scripted"
    patience_s = 1.0
    recall_cache = None

    def __init__(self, *pieces: str | Callable[[], object]) -> None:
        self.pieces = pieces
        self.progress = 0
        self.interrupted = False
        self.limited = False
        self.asked: list[tuple[int, ...]] = []
        self.partial_prefills: list[tuple[int, ...]] = []
        self.drawn_ahead: list[tuple[int, ...]] = []
        self.idle_prefills = 0
        self.transcribed: list[tuple[int, ...]] = []
        self.words: str | Exception = "what was said"
        self.preempted = 0
        self.during: Callable[[], object] = lambda: None

    def answer(self, history: History, effort: AnswerMetrics) -> Iterator[str]:
        assert history.last is not None
        self.asked.append(tuple(clip.utterance for clip in history.last.clips))
        effort.encode_ms, effort.prefill_ms, effort.limited = 0.5, 0.25, self.limited
        for piece in self.pieces:
            if self.interrupted:
                raise AnswerAbandoned
            if isinstance(piece, str):
                effort.tokens += 1
                yield piece
            else:
                piece()

    def encode_ahead(self, clip: SpeechClip) -> None:
        self.during()

    def prefill_idle(self, history: History) -> bool:
        self.idle_prefills += 1
        self.during()
        return True

    def prefill_partial(self, history: History, *, likely_all: bool) -> None:
        assert history.last is not None
        self.partial_prefills.append(tuple(clip.utterance for clip in history.last.clips))
        self.during()

    def draw_ahead(self, history: History) -> Generator[str]:
        assert history.last is not None
        self.drawn_ahead.append(tuple(clip.utterance for clip in history.last.clips))
        for piece in self.pieces:
            if isinstance(piece, str):
                yield piece
            else:
                piece()

    def preempt_idle(self) -> None:
        self.preempted += 1

    def transcribe(self, clips: Sequence[SpeechClip]) -> str:
        self.transcribed.append(tuple(clip.utterance for clip in clips))
        if isinstance(self.words, str):
            return self.words
        raise self.words

    def interrupt(self) -> None:
        self.interrupted = True

    def resume(self) -> None:
        self.interrupted = False

    def close(self) -> None: ...


class Ticking:
    """A clock that advances by a millisecond at every reading."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        self.now_s += 0.001
        return self.now_s


def session_with(model: ScriptedModel) -> tuple[ModelSession, list[Message]]:
    sent: list[Message] = []
    return ModelSession(model, sent.append, Ticking()), sent


def end_of(sent: list[Message]) -> ThoughtEnded:
    (end,) = (m for m in sent if isinstance(m, ThoughtEnded))
    assert sent[-1] is end
    return end
