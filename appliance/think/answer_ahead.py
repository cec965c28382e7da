"""Starts an answer before the owner's turn is over and drops it if the question continues."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from appliance.think.answer_drawing import AnswerDrawing, AnswerPiece
from appliance.think.audio_embeddings import Ids
from appliance.think.tokenized_prompt import TokenizedPrompt


class Sampler(Protocol):
    """The methods of Gemma that copy and restore the sampler's random state."""

    def copy_sampler(self) -> Any: ...
    def replace_sampler(self, copy: Any) -> None: ...
    def free_sampler(self, copy: Any) -> None: ...


@dataclass(frozen=True)
class _StartedAnswer:
    """An answer that was started. `sampler`: a copy of the sampler from before its first token."""

    question: Ids
    drawing: AnswerDrawing
    sampler: Any


class AnswerAhead:
    """Holds at most one answer. `drop` restores the sampler. It does not touch the context: the
    next prefill rolls the answer's tokens back, as it does after an interrupted answer.

    `thrown_away`: tokens that were sampled for questions that then continued.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._started: _StartedAnswer | None = None
        self._thrown_away = 0

    @property
    def started(self) -> bool:
        """Whether there is an answer for `take`."""
        return self._started is not None

    def draw(self, question: TokenizedPrompt, drawing: AnswerDrawing) -> Iterator[AnswerPiece]:
        """Start the answer to `question` and yield its pieces. Close the generator to stop early.

        Raises AnswerAbandoned and ModelError, and drops the answer first.
        """
        self._started = _StartedAnswer(question.ids, drawing, self._sampler.copy_sampler())
        try:
            yield from drawing.draw_ahead()
        except Exception:
            self.drop()
            raise

    def take(self, question: TokenizedPrompt) -> AnswerDrawing | None:
        """Return the answer to exactly this question, to be continued. If the held answer is to
        another question, drop it and return None."""
        started = self._started
        if started is None or not np.array_equal(started.question, question.ids):
            self.drop()
            return None
        self._started = None
        self._sampler.free_sampler(started.sampler)
        return started.drawing

    def drop(self) -> None:
        """Discard the answer and restore the sampler. Call it before any other prefill."""
        started, self._started = self._started, None
        if started is not None:
            started.drawing.close()
            self._thrown_away += len(started.drawing.tokens)
            self._sampler.replace_sampler(started.sampler)

    def pop_thrown_away(self) -> int:
        count, self._thrown_away = self._thrown_away, 0
        return count
