"""An answer that was cut, until its heard part is known, and the question left unanswered."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.dialog.answer import Answer, Question
from appliance.messages.speech import Spoken


@dataclass(frozen=True)
class CutAnswer:
    """An answer that was cut; playback has yet to report how much of it was heard.

    answer    its lines up to the cut; it no longer sounds
    due_s     when the heard part is estimated, if playback has not reported it
    unwanted  the owner stopped it: if nothing was heard, the question is dropped
    unheard   the owner continued the question in the grace period: it counts as not heard
    """

    answer: Answer
    due_s: float
    unwanted: bool = False
    unheard: bool = False

    @property
    def consistent(self) -> bool:
        """The answer does not sound."""
        return not self.answer.sounding

    def stop(self) -> CutAnswer:
        """Mark it as stopped by the owner."""
        return replace(self, unwanted=True)

    def set_position(self, position: int, now_s: float) -> CutAnswer:
        """Set the position at which playback stopped."""
        return replace(self, answer=self.answer.at(position, now_s, sounding=False))

    def set_timing(self, spoken: Spoken) -> CutAnswer:
        """Set the position and length of one line."""
        return replace(self, answer=self.answer.with_spoken(spoken))

    def heard_text(self, position: int | None) -> str:
        """The text heard up to `position`; None: up to the last known position."""
        if self.unheard:
            return ""
        return self.answer.heard_text(self.answer.position if position is None else position)


@dataclass(frozen=True)
class UnansweredQuestion:
    """A question without an answer, which the thinker keeps for the next one. `turn`: its own."""

    question: Question
    turn: int

    @property
    def asked(self) -> Question:
        """The question, with `first_turn` set to the turn in which it began."""
        first_turn = self.question.first_turn
        return replace(self.question, first_turn=self.turn if first_turn is None else first_turn)
