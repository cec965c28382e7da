"""The answer that is begun before the turn is over, and dropped if the question goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from appliance.think.answer_drawing import AnswerDrawing, AnswerPiece
from appliance.think.audio_embeddings import Ids
from appliance.think.tokenized_prompt import TokenizedPrompt


class Sampler(Protocol):
    """The part of Gemma that holds the state of chance."""

    def copy_sampler(self) -> Any: ...
    def replace_sampler(self, copy: Any) -> None: ...
    def free_sampler(self, copy: Any) -> None: ...


@dataclass(frozen=True)
class _Begun:
    """`sampler`: its state before the drawing."""

    question: Ids
    drawing: AnswerDrawing
    sampler: Any


class AnswerAhead:
    """At most one answer. Dropped, it leaves the sampler as it was; what the context holds of it
    is rolled back by whoever reads next, as after an answer that was cut.

    `thrown_away`: tokens drawn for questions that then went on.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._begun: _Begun | None = None
        self._thrown_away = 0

    @property
    def begun(self) -> bool:
        """There is something to `take`."""
        return self._begun is not None

    def draw(self, question: TokenizedPrompt, drawing: AnswerDrawing) -> Iterator[AnswerPiece]:
        """Begin on the answer to `question`; its pieces. Whoever wants no more of them closes this.

        Raises AnswerAbandoned and ModelError; then nothing is kept.
        """
        self._begun = _Begun(question.ids, drawing, self._sampler.copy_sampler())
        try:
            yield from drawing.draw_ahead()
        except Exception:
            self.drop()
            raise

    def take(self, question: TokenizedPrompt) -> AnswerDrawing | None:
        """What was drawn for exactly this question, to be gone on with. Else there is nothing any
        more."""
        begun = self._begun
        if begun is None or not np.array_equal(begun.question, question.ids):
            self.drop()
            return None
        self._begun = None
        self._sampler.free_sampler(begun.sampler)
        return begun.drawing

    def drop(self) -> None:
        """As if it had never been drawn. Before anything else is read."""
        begun, self._begun = self._begun, None
        if begun is not None:
            begun.drawing.close()
            self._thrown_away += len(begun.drawing.tokens)
            self._sampler.replace_sampler(begun.sampler)

    def pop_thrown_away(self) -> int:
        count, self._thrown_away = self._thrown_away, 0
        return count
