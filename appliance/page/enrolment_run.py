"""One enrolment: asks for one word after the other, follows each take, and learns from them. Pure.

In: commands of browsers, the box's messages, time. Out: messages for the conductor (pop_messages),
events for browsers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from appliance.messages.commands import ButtonPressed
from appliance.messages.enrolling import (
    WORDS,
    AskTake,
    BeginEnrolment,
    EnrolmentLearnt,
    EnrolmentOutcome,
    EnrolmentWord,
    LearnEnrolment,
    TakeFault,
    TakeJudged,
)
from appliance.messages.registry import Message
from appliance.messages.trying import EndTrial, SoundRecording, TrialRefused
from appliance.page.live import Event

ROUNDS = 3  # of all words, as in the measurement of training/verdict/enrolment_gain.py
TRIES = 3  # takes of a word that are rejected; then the next word is asked for
MOST_FAULTS = 9  # rejected takes in all; ends the enrolment in a room that is too loud
AGAIN_S = 2.0  # retry delay after a refusal because of a conversation
# "waiting": for the end of a conversation or a timer's ringing. "cancelled": by a button of the
# page or the box.
EnrolmentPhase = Literal[
    "never", "asking", "recording", "judging", "waiting", "learning",
    "learnt", "cancelled", "abandoned", "refused", "faults",
]  # fmt: skip
# Timeout of each phase in seconds. A question may include the explanation, and wait for a voice.
LONGEST_S: dict[EnrolmentPhase, float] = {
    "asking": 40.0,
    "recording": 8.0,
    "judging": 120.0,  # takes 1 s on a desktop machine
    "waiting": 60.0,
    "learning": 240.0,  # takes about 10 s on a desktop machine; a Pi is slower, and busy
}


@dataclass
class TakeRow:
    """One word to be said. `tries`: number of takes; `fault`: of the latest one."""

    word: EnrolmentWord
    round: int
    tries: int = 0
    fault: TakeFault | None = None
    accepted: bool = False


class EnrolmentRun:
    """The newest enrolment. `why`: reason of a refusal, a key's last part. `learnt`: the result."""

    def __init__(self) -> None:
        self.phase: EnrolmentPhase = "never"
        self.rows: list[TakeRow] = []
        self.at = 0  # the row whose word is asked for
        self.why = ""
        self.number = 0
        self.learnt: EnrolmentLearnt | None = None
        self._take = 0  # number of the latest take
        self._rows_of: dict[int, int] = {}  # take → row
        self._fault: TakeFault | None = None  # announced with the next question
        self._since_s = self._waits_since_s = self._refused_s = 0.0
        self._messages: list[Message] = []

    @property
    def under_way(self) -> bool:
        return self.phase in LONGEST_S

    @property
    def outcome(self) -> EnrolmentOutcome | None:
        return self.learnt.outcome if self.learnt is not None else None

    @property
    def accepted(self) -> int:
        return sum(row.accepted for row in self.rows)

    def begin(self, now_s: float) -> bool:
        """Start an enrolment. False while one is under way."""
        if self.under_way:
            return False
        number = max(self.number + 1, round(now_s * 1000))  # differs from an earlier page process's
        self.__init__()  # type: ignore[misc]  # reset everything
        self.number = number
        self.rows = [TakeRow(word, n) for n in range(1, ROUNDS + 1) for word in WORDS]
        self._messages = [BeginEnrolment(number)]
        self._ask(now_s)
        return True

    def end(self, how: Literal["cancelled", "abandoned"], now_s: float) -> None:
        """End the enrolment, if one is under way."""
        if self.under_way:
            self._stop(how, now_s)

    def handle(self, message: Message, now_s: float) -> list[Event]:
        """Handle a message of the box. Returns events for browsers."""
        if not self.under_way:
            return []
        match message:
            case ButtonPressed():
                self.end("cancelled", now_s)
            case SoundRecording(number, on) if number == self.number:
                self._enter("recording" if on else "judging", now_s)
            case TakeJudged(number, take, fault) if number == self.number:
                self._on_judged(take, fault, now_s)
            case TrialRefused(number, "busy") if number == self.number:
                self._wait(now_s)
            case TrialRefused(number, why) if number == self.number:
                self.why = why
                self._stop("refused", now_s)
            case EnrolmentLearnt(number) if number == self.number:
                self._on_learnt(message, now_s)
            case _:
                return []
        return [{"k": "trial", "phase": self.phase}]

    def expire(self, now_s: float) -> list[Event]:
        """End a phase that has timed out; repeat a question that was refused."""
        if not self.under_way:
            return []
        if now_s - self._since_s > LONGEST_S[self.phase]:
            self.why = "busy" if self.phase == "waiting" else "no-answer"
            self._stop("refused", now_s)
            return [{"k": "trial", "phase": self.phase}]
        if self.phase == "waiting" and now_s >= self._refused_s + AGAIN_S:
            self._refused_s = now_s
            self._send_question()
        return []

    def pop_messages(self) -> list[Message]:
        """Return the messages for the conductor and forget them."""
        messages, self._messages = self._messages, []
        return messages

    def _on_judged(self, take: int, fault: TakeFault | None, now_s: float) -> None:
        if take != self._take or self.phase not in ("recording", "judging"):
            return
        row = self.rows[self.at]
        row.tries += 1
        row.fault, row.accepted = fault, fault is None
        self._fault = fault
        if fault is None or row.tries == TRIES:
            self.at += 1
        if sum(tried.tries - tried.accepted for tried in self.rows) >= MOST_FAULTS:
            self._stop("faults", now_s)
        elif self.at < len(self.rows):
            self._ask(now_s)
        else:
            self._messages.append(LearnEnrolment(self.number))
            self._enter("learning", now_s)

    def _on_learnt(self, learnt: EnrolmentLearnt, now_s: float) -> None:
        self.learnt = learnt
        if learnt.worst in self._rows_of:
            row = self.rows[self._rows_of[learnt.worst]]
            row.accepted, row.fault = False, "unlike"
        self._enter("learnt", now_s)

    def _ask(self, now_s: float) -> None:
        self._enter("asking", now_s)
        self._send_question()

    def _send_question(self) -> None:
        self._take += 1
        self._rows_of[self._take] = self.at
        row = self.rows[self.at]
        first = self.at == 0 and row.tries == 0
        self._messages.append(AskTake(self.number, self._take, row.word, first, self._fault))

    def _wait(self, now_s: float) -> None:
        """Wait for the end of a conversation; `expire` then repeats the question."""
        self._refused_s = now_s
        if self.phase != "waiting":
            self._enter("waiting", now_s)

    def _stop(
        self, how: Literal["cancelled", "abandoned", "refused", "faults"], now_s: float
    ) -> None:
        self._messages = [EndTrial(self.number)]
        self._enter(how, now_s)

    def _enter(self, phase: EnrolmentPhase, now_s: float) -> None:
        self.phase, self._since_s = phase, now_s
