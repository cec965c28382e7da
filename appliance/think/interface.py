"""What the thinker asks of a language model, wherever it runs."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from appliance.think.history import History, SpeechClip

if TYPE_CHECKING:
    from appliance.think.recall_cache import RecallCache
from appliance.tools.tool_call_syntax import BadToolCall, ToolCall


@dataclass
class AnswerMetrics:
    """What one answer cost, from when it was wanted.

    read         tokens of the prompt that were read only then; the rest had been read ahead
    tokens       drawn
    drawn_ahead  of these, before the question was over
    thrown_away  drawn ahead since the answer before, for questions that then went on
    limited      it was cut off by the greatest number of tokens
    """

    encode_ms: float = 0.0
    prefill_ms: float = 0.0
    read: int = 0
    tokens: int = 0
    drawn_ahead: int = 0
    thrown_away: int = 0
    limited: bool = False


class LanguageModel(Protocol):
    """A language model with audio input. All methods belong to one thread, but for `interrupt`.

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
    def recall_cache(self) -> RecallCache | None:
        """What it keeps for the next start; None: nothing."""
        ...

    def answer(
        self, history: History, effort: AnswerMetrics
    ) -> Iterator[str | ToolCall | BadToolCall]:
        """The answer to the last turn of `history`, piece by piece, and its cost in `effort`.

        Some pieces are empty. A call comes when it is complete, or cannot be understood. May drop
        the oldest turns. Raises AnswerAbandoned, or an InterludeError when it cannot.
        """
        ...

    def encode_ahead(self, clip: SpeechClip) -> None:
        """Do what can be done about a clip before it is known whether it will be answered."""
        ...

    def prefill_partial(self, history: History, *, likely_all: bool) -> None:
        """The owner is still speaking: read ahead what has come of the last turn's last clip.

        The next clip of the same utterance begins with the same samples. `likely_all`: these
        may have been the last words. Raises AnswerAbandoned, or an InterludeError when it cannot.
        """
        ...

    def draw_ahead(self, history: History) -> Generator[str | ToolCall | BadToolCall]:
        """These may have been the last words, and all of them are read: begin on the answer, which
        ends by itself after a clause or two. Its pieces, which nobody has asked for.

        `answer` hands all of them out once more, if it is asked for just this; else it is as if
        they had never been drawn. Raises AnswerAbandoned, or an InterludeError when it cannot.
        """
        ...

    def prefill_idle(self, history: History) -> bool:
        """Nobody waits: do one piece of what makes ready for the next turn. Returns whether all of
        it is done. Raises AnswerAbandoned."""
        ...

    def transcribe(self, clips: Sequence[SpeechClip]) -> str:
        """Nobody waits: what was said in these, in words; "" if there are none or it cannot tell.

        Begun anew after an interruption, it goes on where it was. Raises AnswerAbandoned, or an
        InterludeError when it cannot.
        """
        ...

    def preempt_idle(self) -> None:
        """From any thread: end what `prefill_idle` is doing, if no question has a use for it."""
        ...

    def interrupt(self) -> None:
        """From any thread: end what `answer`, `prefill_idle` or `transcribe` is doing, within a
        token."""
        ...

    def resume(self) -> None:
        """Take `interrupt` back, before the next piece of work."""
        ...

    def close(self) -> None: ...
