"""The interface of a language model, local or on a server, as the thinker uses it."""

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
    """The cost of one answer, from its request on.

    read         prompt tokens evaluated after the request; the others were evaluated ahead
    tokens       sampled tokens
    drawn_ahead  of these, sampled before the question was over
    thrown_away  sampled ahead since the last answer, for questions that then continued
    limited      the answer was cut at the maximum number of tokens
    """

    encode_ms: float = 0.0
    prefill_ms: float = 0.0
    read: int = 0
    tokens: int = 0
    drawn_ahead: int = 0
    thrown_away: int = 0
    limited: bool = False


class LanguageModel(Protocol):
    """A language model with audio input. Methods belong to one thread unless they say otherwise.

    name        for the log and for ThinkerReady
    patience_s  health check timeout: the longest time without a change of `progress`
    """

    name: str
    patience_s: float

    @property
    def progress(self) -> int:
        """Rises with every step of its work."""
        ...

    @property
    def recall_cache(self) -> RecallCache | None:
        """The saved state for the next start; None: the model saves none."""
        ...

    def answer(
        self, history: History, effort: AnswerMetrics
    ) -> Iterator[str | ToolCall | BadToolCall]:
        """Yield the answer to the last turn of `history` in pieces; write its cost to `effort`.

        Some pieces are empty. A call is yielded when it is complete or cannot be parsed. May drop
        the oldest turns. Raises AnswerAbandoned, or an InterludeError if the model fails.
        """
        ...

    def encode_ahead(self, clip: SpeechClip) -> None:
        """Prepare a clip before it is certain to be part of a question: encode it."""
        ...

    def prefill_partial(self, history: History, *, likely_all: bool) -> None:
        """Prefill the last turn up to its last clip, which the owner is still speaking.

        The next clip of the same utterance starts with the same samples. `likely_all`: the question
        may be complete. Raises AnswerAbandoned, or an InterludeError if the model fails.
        """
        ...

    def draw_ahead(self, history: History) -> Generator[str | ToolCall | BadToolCall]:
        """Start the answer while the question may be complete, and yield its pieces. The generator
        ends by itself after a clause or two.

        `answer` yields the same pieces again if its question is the same; if not, they are
        dropped. Raises AnswerAbandoned, or an InterludeError if the model fails.
        """
        ...

    def prefill_idle(self, history: History) -> bool:
        """Do one piece of the preparation for the next turn, while idle. Return whether all of it
        is done. Raises AnswerAbandoned."""
        ...

    def transcribe(self, clips: Sequence[SpeechClip]) -> str:
        """Transcribe clips, while idle; "" if there are no words or the model cannot tell.

        Called again after an interruption, it continues where it stopped. Raises AnswerAbandoned,
        or an InterludeError if the model fails.
        """
        ...

    def preempt_idle(self) -> None:
        """From any thread: end the work of `prefill_idle` if it is of no use to a question."""
        ...

    def interrupt(self) -> None:
        """From any thread: end the work of `answer`, `prefill_idle` or `transcribe`, within a
        token."""
        ...

    def resume(self) -> None:
        """Undo `interrupt`; call before the next piece of work."""
        ...

    def close(self) -> None: ...
