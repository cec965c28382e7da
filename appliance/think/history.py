"""The conversation so far: the owner's questions and the heard text of each answer.

Pure. In: questions, answers as they grow, and their heard text. Out: turns, oldest first. A turn
ends up with the text that left the loudspeaker, not with all that the model generated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from appliance.tools.tool_call_syntax import ToolCall

RECALLED = -1  # number of a turn from before this process started
UNASKED = -2  # number of a question that the owner is still speaking


@dataclass(frozen=True, eq=False)
class SpeechClip:
    """A stretch of the owner's speech: int16, mono, 16 kHz, at most 30 s. Equal only to itself."""

    utterance: int
    samples: npt.NDArray[np.int16]

    def begins_with(self, other: SpeechClip) -> bool:
        """Whether both are of the same utterance and this one is at least as long."""
        return self.utterance == other.utterance and len(self.samples) >= len(other.samples)


@dataclass(eq=False)
class ToolUse:
    """A call of a tool and the tool's answer in `said`; "" until the tool has answered."""

    call: ToolCall
    said: str = ""


@dataclass(eq=False)
class HistoryTurn:
    """The owner's question, as sound or text, and the answer.

    `tokens`: the tokens of `answer` as a local model sampled them; empty if the text was changed,
    so that the prompt uses the text. `uses`: the model's calls; the tools' answers are also part
    of `answer`. `settled`: the heard text of the answer is known. `transcript`: the model's
    transcript of the sound, which replaces the sound when that is gone; "" if it failed, None if
    it was not tried yet.
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
        """Replace the answer's text; its sampled tokens are then no longer valid."""
        self.answer = answer
        self.tokens = []


def recalled(turns: Iterable[tuple[str, str, str]]) -> list[HistoryTurn]:
    """Return turns of the memory: (typed question, transcript of a spoken one, heard answer).
    Turns without heard text are left out."""
    return [
        HistoryTurn(RECALLED, text=typed, transcript=transcript, answer=heard)
        for typed, transcript, heard in turns
        if heard.strip()
    ]


class History:
    """Turns, oldest first. A question without a heard answer is joined to the next question."""

    def __init__(self) -> None:
        self.turns: list[HistoryTurn] = []

    @property
    def last(self) -> HistoryTurn | None:
        return self.turns[-1] if self.turns else None

    def add_turn(
        self, number: int, clips: Iterable[SpeechClip] = (), text: str = ""
    ) -> HistoryTurn:
        """Append a question, with an unanswered one before it joined to it."""
        clips = tuple(clips)
        if self.turns and not self.turns[-1].answered:
            unanswered = self.turns.pop()
            known = {clip.utterance for clip in clips}
            clips = (*(clip for clip in unanswered.clips if clip.utterance not in known), *clips)
            text = " ".join(filter(None, (unanswered.text, text)))
        turn = HistoryTurn(number, clips, text)
        self.turns.append(turn)
        return turn

    def with_question(self, clips: Iterable[SpeechClip]) -> History:
        """Return a copy with these clips as an additional question."""
        other = History()
        other.turns = list(self.turns)
        other.add_turn(UNASKED, clips)
        return other

    def abandon(self, number: int) -> None:
        """Drop the answer and keep the question; `record_heard` may still report that a part of
        the answer was heard."""
        turn = self._find(number)
        if turn is not None and not turn.settled:
            turn.set_answer("")

    def record_heard(self, number: int, text: str, *, complete: bool) -> None:
        """Record the heard text of an answer. If it is empty, drop the question, too: it is not to
        be answered any more."""
        turn = self._find(number)
        if turn is None:
            return
        turn.settled = True
        if turn.uses or not (complete and turn.answered):
            turn.set_answer(
                text.strip()
            )  # tools answer asynchronously: only the heard text has their answers in order
        if not turn.answered:
            self.turns.remove(turn)

    def record_tool_answer(self, number: int, call: int, text: str) -> None:
        """Record a tool's answer to call `call` (from 0) of that turn."""
        turn = self._find(number)
        if turn is not None and call < len(turn.uses) and not turn.settled:
            turn.uses[call].said = text
            turn.set_answer(f"{turn.answer} {text}".strip())

    def fail(self, number: int) -> None:
        """Drop a question that will get no answer."""
        if turn := self._find(number):
            self.turns.remove(turn)

    def load_turns(self, turns: Iterable[tuple[str, str, str]]) -> None:
        """Replace the recalled turns, which precede those of this process."""
        now = [turn for turn in self.turns if turn.number != RECALLED]
        self.turns = recalled(turns) + now

    @property
    def next_untranscribed(self) -> HistoryTurn | None:
        """The oldest settled turn with sound for which no transcription was tried."""
        over = (turn for turn in self.turns if turn.settled and turn.clips)
        return next((turn for turn in over if turn.transcript is None), None)

    def forget(self) -> None:
        self.turns.clear()

    def forget_last(self) -> None:
        """Drop the last answered turn, and an unanswered one after it, which only asked for
        this."""
        if self.turns and not self.turns[-1].answered:
            self.turns.pop()
        if self.turns:
            self.turns.pop()

    def drop_oldest(self) -> HistoryTurn | None:
        """Drop and return the oldest turn, but never the last one, which may await its answer."""
        return self.turns.pop(0) if len(self.turns) > 1 else None

    @property
    def last_unsettled(self) -> bool:
        """Whether the heard text of the last answer is not known yet."""
        last = self.last
        return last is not None and last.answered and not (last.settled or last.number == RECALLED)

    def _find(self, number: int) -> HistoryTurn | None:
        return next((turn for turn in reversed(self.turns) if turn.number == number), None)
