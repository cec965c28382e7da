"""An answer that was cut, until it is known how much was heard; and the question it leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.dialog.answer import Answer, Question
from appliance.messages.speech import Spoken


@dataclass(frozen=True)
class CutAnswer:
    """An answer that was cut; playback is about to say how much of it was heard.

    answer    as far as it came; it sounds no more
    due_s     when what was heard is estimated instead
    unwanted  the owner stopped it: if nothing was heard, the question is not to be asked again
    unheard   it had hardly begun when the owner went on asking: it counts as not heard
    """

    answer: Answer
    due_s: float
    unwanted: bool = False
    unheard: bool = False

    @property
    def consistent(self) -> bool:
        """It does not sound."""
        return not self.answer.sounding

    def stop(self) -> CutAnswer:
        """The owner stopped it."""
        return replace(self, unwanted=True)

    def set_position(self, position: int, now_s: float) -> CutAnswer:
        """Playback was at `position` when it fell silent."""
        return replace(self, answer=self.answer.at(position, now_s, sounding=False))

    def set_timing(self, spoken: Spoken) -> CutAnswer:
        """Where one of its lines lies."""
        return replace(self, answer=self.answer.with_spoken(spoken))

    def heard_text(self, position: int | None) -> str:
        """What was heard of it up to `position`; None: up to the last position that is known."""
        if self.unheard:
            return ""
        return self.answer.heard_text(self.answer.position if position is None else position)


@dataclass(frozen=True)
class UnansweredQuestion:
    """A question without an answer; the thinker keeps it for the next one. `turn` was its own."""

    question: Question
    turn: int

    @property
    def asked(self) -> Question:
        """The question, with the turn in which it was begun."""
        begun = self.question.first_turn
        return replace(self.question, first_turn=self.turn if begun is None else begun)
