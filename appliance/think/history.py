"""The conversation so far: what the owner said and how much of each answer was heard.

Pure bookkeeping. In: questions, answers as they grow, what was heard of them. Out: turns, oldest
first. It holds what left the loudspeaker, not what was planned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from appliance.tools.tool_call_syntax import ToolCall

RECALLED = -1  # the number of a turn from before this process began
UNASKED = -2  # of one that is still being spoken


@dataclass(frozen=True, eq=False)
class SpeechClip:
    """A stretch of the owner's speech: int16, mono, 16 kHz, at most 30 s. Equal only to itself."""

    utterance: int
    samples: npt.NDArray[np.int16]

    def begins_with(self, other: SpeechClip) -> bool:
        """It is of the same utterance, and no less of it."""
        return self.utterance == other.utterance and len(self.samples) >= len(other.samples)


@dataclass(eq=False)
class ToolUse:
    """A tool that the model called, and what the tool said; "" as long as it has said nothing."""

    call: ToolCall
    said: str = ""


@dataclass(eq=False)
class HistoryTurn:
    """What the owner said, as sound or text, and the answer.

    `tokens` are the very tokens of `answer` as a local model drew them, as long as the answer
    stands as it was drawn; else they are empty, and the words count. `uses`: the model's calls;
    what the tools said is part of `answer`, too. `settled`: it is known how much of the answer was
    heard. `transcript`: what a model wrote down of the sound; "" if that failed, None if nobody has
    tried; it stands for the sound once that is gone.
    """

    number: int
    clips: tuple[SpeechClip, ...] = ()
    text: str = ""
    answer: str = ""
    tokens: list[int] = field(default_factory=list)
    uses: list[ToolUse] = field(default_factory=list)
    settled: bool = False
    transcript: str | None = None

    @property
    def answered(self) -> bool:
        return bool(self.answer.strip())

    def set_answer(self, answer: str) -> None:
        """This is the answer now."""
        self.answer = answer
        self.tokens = []


def recalled(turns: Iterable[tuple[str, str, str]]) -> list[HistoryTurn]:
    """Turns from before: (what the owner typed, what a model wrote down of what the owner said,
    what was heard). Of which nothing was heard, that is none."""
    return [
        HistoryTurn(RECALLED, text=typed, transcript=transcript, answer=heard)
        for typed, transcript, heard in turns
        if heard.strip()
    ]


class History:
    """Turns, oldest first. A question of whose answer nothing was heard joins the next question."""

    def __init__(self) -> None:
        self.turns: list[HistoryTurn] = []

    @property
    def last(self) -> HistoryTurn | None:
        return self.turns[-1] if self.turns else None

    def add_turn(
        self, number: int, clips: Iterable[SpeechClip] = (), text: str = ""
    ) -> HistoryTurn:
        """A new question; the answer to it is yet to come."""
        clips = tuple(clips)
        if self.turns and not self.turns[-1].answered:
            left = self.turns.pop()
            known = {clip.utterance for clip in clips}
            clips = (*(clip for clip in left.clips if clip.utterance not in known), *clips)
            text = " ".join(filter(None, (left.text, text)))
        turn = HistoryTurn(number, clips, text)
        self.turns.append(turn)
        return turn

    def with_question(self, clips: Iterable[SpeechClip]) -> History:
        """What it would be if these were asked now."""
        other = History()
        other.turns = list(self.turns)
        other.add_turn(UNASKED, clips)
        return other

    def abandon(self, number: int) -> None:
        """The answer is wanted no more, the question is kept; `heard` may still say that a part
        of the answer was heard."""
        turn = self._find(number)
        if turn is not None and not turn.settled:
            turn.set_answer("")

    def record_heard(self, number: int, text: str, *, complete: bool) -> None:
        """So much of the answer left the loudspeaker. If that is nothing, the question is not to
        be answered any more either."""
        turn = self._find(number)
        if turn is None:
            return
        turn.settled = True
        if turn.uses or not (complete and turn.answered):
            turn.set_answer(
                text.strip()
            )  # tools answer in their own time: only this has them in order
        if not turn.answered:
            self.turns.remove(turn)

    def record_tool_answer(self, number: int, call: int, text: str) -> None:
        """The tool of the call `call` (from 0) of that answer has said so."""
        turn = self._find(number)
        if turn is not None and call < len(turn.uses) and not turn.settled:
            turn.uses[call].said = text
            turn.set_answer(f"{turn.answer} {text}".strip())

    def fail(self, number: int) -> None:
        """There is no answer to it and there will be none."""
        if turn := self._find(number):
            self.turns.remove(turn)

    def load_turns(self, turns: Iterable[tuple[str, str, str]]) -> None:
        """Turns from before, ahead of those of now."""
        now = [turn for turn in self.turns if turn.number != RECALLED]
        self.turns = recalled(turns) + now

    @property
    def next_untranscribed(self) -> HistoryTurn | None:
        """The oldest turn that is over and whose sound nobody has tried to write down."""
        over = (turn for turn in self.turns if turn.settled and turn.clips)
        return next((turn for turn in over if turn.transcript is None), None)

    def forget(self) -> None:
        self.turns.clear()

    def forget_last(self) -> None:
        """The last turn; and the one before it, if that only asked for this."""
        if self.turns and not self.turns[-1].answered:
            self.turns.pop()
        if self.turns:
            self.turns.pop()

    def drop_oldest(self) -> HistoryTurn | None:
        """Forget the oldest turn, but never the last, which may wait for its answer."""
        return self.turns.pop(0) if len(self.turns) > 1 else None

    @property
    def in_flux(self) -> bool:
        """How much of the last answer was heard is yet to be told."""
        last = self.last
        return last is not None and last.answered and not (last.settled or last.number == RECALLED)

    def _find(self, number: int) -> HistoryTurn | None:
        return next((turn for turn in reversed(self.turns) if turn.number == number), None)
