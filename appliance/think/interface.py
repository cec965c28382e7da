"""What the thinker asks of a language model, wherever it runs, and what describes a local one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from appliance.settings import ThinkingSettings
from appliance.think.history import History, SpeechClip

if TYPE_CHECKING:
    from appliance.think.recall_cache import Recollection
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall


@dataclass(frozen=True)
class Sampling:
    """How the next token is drawn. Temperature 0 always takes the likeliest."""

    temperature: float = 1.0  # these three: the model card's advice for Gemma 4
    top_p: float = 0.95
    top_k: int = 64

    def with_owner(self, thinking: ThinkingSettings) -> Sampling:
        """The same with the owner's settings over it; -1 there means the model's own."""
        return Sampling(
            self.temperature if thinking.temperature < 0 else thinking.temperature,
            self.top_p if thinking.top_p < 0 else thinking.top_p,
            self.top_k if thinking.top_k < 0 else thinking.top_k,
        )


@dataclass(frozen=True)
class LocalModel:
    """A model that lies on this box.

    context_tokens  the most that it can hold; the owner's setting may be lower
    history_tokens  the most conversation that it can make use of; likewise
    persona         the system prompt that it was trained with, and with it the tools that it knows;
                    None takes the owner's, and declares the box's tools
    instruction     what it was trained to read behind sound; None takes the owner's
    transcribes     it can write down what was said, word for word, when asked to
    """

    name: str
    text: Path
    audio: Path
    context_tokens: int = 131_072
    history_tokens: int = 131_072
    sampling: Sampling = Sampling()
    persona: str | None = None
    instruction: str | None = None
    transcribes: bool = True


@dataclass
class AnswerMetrics:
    """What one answer cost, from when it was wanted.

    read      tokens of the prompt that were read only then; the rest had been read ahead
    tokens    drawn
    limited   it was cut off by the greatest number of tokens
    """

    encode_ms: float = 0.0
    prefill_ms: float = 0.0
    read: int = 0
    tokens: int = 0
    limited: bool = False


class AnswerAbandoned(Exception):
    """Nobody wants the answer any more: `interrupt` was called while the model was at work."""


class LanguageModel(Protocol):
    """A language model with ears. All methods belong to one thread, but for `interrupt`.

    name        for the log and for ThinkerReady
    patience_s  the longest time that it may be at one step of its work and still be well
    """

    name: str
    patience_s: float

    @property
    def progress(self) -> int:
        """Rises with every step of its work."""
        ...

    @property
    def recollection(self) -> Recollection | None:
        """What it keeps for the next start; None: nothing."""
        ...

    def answer(
        self, history: History, effort: AnswerMetrics
    ) -> Iterator[str | ToolCall | BadToolCall]:
        """The answer to the last turn of `history`, piece by piece, and its cost in `effort`.

        Some pieces are empty. A call comes when it is complete, or cannot be understood. May drop
        the oldest turns. Raises Abandoned, or an InterludeError when it cannot.
        """
        ...

    def encode_ahead(self, clip: SpeechClip) -> None:
        """Do what can be done about a clip before it is known whether it will be answered."""
        ...

    def prefill_partial(self, history: History, *, likely_all: bool) -> None:
        """The owner is still speaking: read ahead what has come of the last turn's last clip.

        The next clip of the same utterance begins with the same samples. `likely_all`: these
        may have been the last words. Raises Abandoned, or an InterludeError when it cannot.
        """
        ...

    def prefill_idle(self, history: History) -> bool:
        """Nobody waits: do one piece of what makes ready for the next turn. Returns whether all of
        it is done. Raises Abandoned."""
        ...

    def transcribe(self, clips: Sequence[SpeechClip]) -> str:
        """Nobody waits: what was said in these, in words; "" if there are none or it cannot tell.

        Begun anew after an interruption, it goes on where it was. Raises Abandoned, or an
        InterludeError when it cannot.
        """
        ...

    def preempt_idle(self) -> None:
        """From any thread: end what `settle` is doing, if no question has a use for it."""
        ...

    def interrupt(self) -> None:
        """From any thread: end what `answer`, `settle` or `transcribe` is doing, within a token."""
        ...

    def resume(self) -> None:
        """Take `interrupt` back, before the next piece of work."""
        ...

    def close(self) -> None: ...
