"""A step of the state machine under construction: the operations that handlers are made of.

Pure: the record is frozen, and a `Transition` lives only as long as one call of
`state_machine.step`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from appliance.dialog.actions import (
    AcknowledgePress,
    Action,
    AnnounceState,
    LogNote,
    PartName,
    RaiseTurn,
    ReleaseHold,
    Remember,
    SendMessage,
    StopRinging,
    UseTool,
)
from appliance.dialog.answer import NOTHING_ASKED, Answer, Question
from appliance.dialog.cut_answer import CutAnswer, UnansweredQuestion
from appliance.dialog.policy import NEVER
from appliance.dialog.state import DialogState
from appliance.language.catalogue import Value, catalogue
from appliance.language.common_words import language_by_words
from appliance.messages.commands import Ask, Say, StateName
from appliance.messages.registry import Message
from appliance.messages.speech import EndAnswer, SentenceTokens, Speak
from appliance.messages.thinking import Abandon, AnswerHeard, Think, ThoughtEnded
from appliance.messages.tools import ToolCalled
from appliance.plain_text import spoken
from appliance.sound_format import RATE_HZ
from appliance.tools.intents import parse_intent
from appliance.tools.tool_call_syntax import ToolCall


class Transition:
    """One transition under construction: `next` is the state as it becomes."""

    def __init__(self, dialog: DialogState, now_s: float) -> None:
        self.next = dialog
        self.now_s = now_s
        self.actions: list[Action] = []

    def change(self, **fields: Any) -> None:
        self.next = replace(self.next, **fields)

    def send(self, part: PartName, message: Message) -> None:
        self.actions.append(SendMessage(part, message))

    def say(self, key: str, **values: Value) -> str:
        """A sentence of the box's own, in the language that it speaks now."""
        return catalogue(self.next.language).say(key, **values)

    def log(self, text: str) -> None:
        self.actions.append(LogNote(text))

    def enter_state(
        self, state: StateName, reason: str, for_s: float = NEVER, *, ring: bool = False
    ) -> None:
        """Be in `state` for at most `for_s` seconds; said only if it is another one."""
        changed = state != self.next.state
        self.change(state=state, until_s=self.now_s + for_s)
        if changed:
            self.actions.append(AnnounceState(state, self.next.turn, reason, ring))

    def raise_turn(self) -> None:
        """What sounds or is queued to sound is dropped."""
        self.change(turn=self.next.turn + 1)
        self.actions.append(RaiseTurn(self.next.turn))

    def release_hold(self) -> None:
        """Let go of the newest hold."""
        if self.next.hold.open:
            self.change(hold=self.next.hold.release())
            self.actions.append(ReleaseHold(self.next.hold.serial))

    def acknowledge_press(self) -> None:
        """Let go of a press; by now nothing may sound that it was to end."""
        self.change(listening=self.next.listening.acknowledge_press())
        self.actions.append(AcknowledgePress())

    def hold_for(self, for_s: float) -> None:
        """The hold is, or stays, open for so long."""
        self.change(hold=self.next.hold.extend(self.now_s + for_s))

    def ask_thinker(self, question: Question) -> None:
        """Have it answered, once it is known how much of the last answer was heard."""
        self.follow_language(language_by_words(question.text))
        self.release_hold()
        self.drop_answer()
        self.change(listening=self.next.listening.take_question(), speech=self.next.speech.end())
        if not self.next.parts.thinker_up:
            self._answer_without_thinker(question)
            return
        self.raise_turn()
        self.change(answer=Answer(self.next.turn, question))
        cut = self.next.cut
        if cut is not None and cut.due_s > self.now_s:
            self.enter_state("thinking", "asked", cut.due_s - self.now_s)
        else:
            self.send_think()

    def _answer_without_thinker(self, question: Question) -> None:
        wanted = self.parse_plain_request(question)
        if wanted is None:
            self.announce(self.say("not-ready"))
            return
        self.raise_turn()
        self.change(answer=Answer(self.next.turn, question, ours=True, asked=True))
        self.enter_state("thinking", "asked", self.next.policy.think_s)
        self.answer_by_tool(wanted)

    def follow_language(self, language: str) -> None:
        """Say what the box says by itself in `language` from now on, if it is to; "": as before."""
        if language and self.next.policy.follows_language:
            self.change(language=catalogue(language).language)

    def parse_plain_request(self, question: Question) -> ToolCall | None:
        """What `question` asks for, if it is so plain that it takes no model, and its words are
        known: typed, or recognised beside the model's own hearing."""
        words = question.text or self.next.speech.words_of(question.utterances)
        wanted = parse_intent(words, self.next.language)
        if wanted is None:
            return None
        self.follow_language(wanted.language)
        return wanted.call

    def answer_by_tool(self, wanted: ToolCall) -> None:
        """Use a tool for the answer that is due, and let it be the whole of that answer."""
        assert self.next.answer is not None
        turn = self.next.answer.turn
        over = ThoughtEnded(turn, 0, "complete")
        self.change(answer=replace(self.next.answer, thinking=True, behind=(over,)))
        self.use_tool(ToolCalled(turn, 0, wanted.name, dict(wanted.arguments)))

    def use_tool(self, called: ToolCalled) -> None:
        """Have the tool used; until it answers, the rest of the answer waits."""
        assert self.next.answer is not None
        self.change(answer=replace(self.next.answer, awaits=called.number))
        call, asked = ToolCall(called.name, called.arguments), self.next.answer.question
        about = call, asked.chosen, asked.first_turn
        self.actions.append(UseTool(called.turn, called.number, *about))

    def send_think(self) -> None:
        """The thinker gets the question, and so long to answer it."""
        seconds = self._put_question()
        self.enter_state("thinking", "asked", self.next.policy.think_s + seconds)

    def _put_question(self) -> float:
        """Send the Think; the thinker adds the question it kept by itself. Returns how many
        seconds of speech it has before it."""
        self.settle_cut()
        answer, earlier = self.next.answer, self.next.unanswered
        assert answer is not None
        self.send("thinker", Think(answer.turn, answer.question.utterances, answer.question.text))
        merged = answer.question.after(NOTHING_ASKED if earlier is None else earlier.asked)
        asked = replace(answer, question=merged, asked=True, thinking=True)
        self.change(answer=asked, unanswered=None)
        return merged.seconds

    def speak_line(
        self,
        text: str,
        *,
        ours: bool = False,
        note: str | None = None,
        chime: bool = False,
        ring: bool = False,
        tokens: SentenceTokens | None = None,
    ) -> None:
        """Speak one more line of the answer, after a sound if that is wanted. `text`: as
        plain_text.spoken leaves it; the voice says it as it is.

        An answer that is full already gets no more lines but our own.
        """
        assert self.next.answer is not None
        answer = self.next.answer
        if not ours and (answer.full or not answer.has_room_for(text)):
            self.change(answer=replace(answer, full=True))
            return
        self.send("speaker", Speak(answer.turn, len(answer.lines), text, chime, ring, tokens))
        self.change(answer=answer.with_line(text, ours=ours, note=note))

    def close_answer(self, *, whole: bool) -> None:
        """No line will follow in this answer."""
        assert self.next.answer is not None
        self.send("speaker", EndAnswer(self.next.answer.turn))
        whole = whole and not self.next.answer.full
        self.change(answer=replace(self.next.answer, closed=True, whole=whole, thinking=False))
        self.extend_deadline()

    def announce(self, *lines: str, chime: bool = False, ring: bool = False) -> None:
        """Say lines of our own. A box that is broken goes on saying so by its state."""
        self.drop_answer()
        self.raise_turn()
        self.change(answer=Answer(self.next.turn, ours=True))
        for line in lines:
            self.speak_line(spoken(line), ours=True, chime=chime and line is lines[0], ring=ring)
        self.close_answer(whole=False)
        if not self.next.parts.broken:
            self.enter_state("speaking", "it rings" if ring else "an announcement", ring=ring)
            self.extend_deadline()

    def apologise(self, text: str) -> None:
        """In place of the answer that will not come."""
        self.abandon_thinking()
        self.speak_line(text, ours=True)
        self.close_answer(whole=False)

    def extend_deadline(self) -> None:
        """Put off the deadline by what is still to come."""
        answer, policy = self.next.answer, self.next.policy
        if answer is None:
            return
        more_s = policy.margin_s if answer.closed else policy.think_s
        if self.next.state == "speaking":
            self.change(until_s=self.now_s + answer.remaining_s(self.now_s) + more_s)
        elif self.next.state == "thinking" and answer.lines:
            self.change(until_s=self.now_s + more_s)

    def abandon_thinking(self) -> None:
        """Have the thinker stop. A Think that was waiting goes first, so that it is kept."""
        if self.next.answer is None or self.next.answer.ours:
            return
        if not self.next.answer.asked:
            self._put_question()
        self.send("thinker", Abandon(self.next.answer.turn))
        self.change(answer=replace(self.next.answer, thinking=False))

    def still_asking(self, index: int) -> bool:
        """What the owner began to say at `index` is so early in the answer that it goes on with the
        question. Indices that are not known are 0."""
        answer = self.next.answer
        if answer is None or answer.ours or not (answer.began and index):
            return False
        return index < answer.began + self.next.policy.grace_s * RATE_HZ

    def count_taken_back(self, index: int) -> None:
        """The owner speaks from `index` on: an answer in thought or just begun came too early."""
        answer = self.next.answer
        if answer is None or answer.ours:
            return
        if not answer.began or self.still_asking(index):
            self.change(taken_back=self.next.taken_back + 1)

    def drop_answer(self, *, unwanted: bool = False, unheard: bool = False) -> None:
        """Cut the answer, if there is one; what was heard of it is settled when playback tells.

        `unheard`: it counts as not heard at all; the question is kept for what follows it.
        """
        self.abandon_thinking()
        answer = self.next.answer
        if answer is None:
            return
        self.settle_cut()
        self.raise_turn()
        self.change(answer=None)
        if answer.ours:
            return
        due_s = self.now_s + self.next.policy.stopped_s
        self.change(cut=CutAnswer(answer.silenced(self.now_s), due_s, unwanted, unheard))
        if not answer.lines or unheard:
            self.settle_cut()

    def settle_cut(self, position: int | None = None) -> None:
        """The cut answer was heard up to `position` (by the last that is known, if None)."""
        cut = self.next.cut
        if cut is None:
            return
        self.change(cut=None)
        text = cut.heard_text(position)
        if text or cut.unwanted:
            self.record_heard(cut.answer, text, complete=False)
        else:
            self.change(unanswered=UnansweredQuestion(cut.answer.question, cut.answer.turn))

    def record_heard(self, answer: Answer, text: str, *, complete: bool) -> None:
        """The thinker's history and the memory get what was heard, and no more.

        No text tells the thinker that the question is not to be kept.
        """
        if answer.ours:
            return
        if text:
            self.change(last_lines=tuple(line.text for line in answer.lines if not line.ours))
        self.send("thinker", AnswerHeard(answer.turn, text, complete and text != ""))
        if text:
            asked = answer.question
            self.actions.append(
                Remember(answer.turn, asked.at_s, asked.text, asked.seconds, text, complete)
            )

    def stop_all(self, reason: str) -> None:
        """End all that goes on. What was asked and not answered is not to be asked again."""
        self.drop_answer(unwanted=True)
        if self.next.cut is not None:
            self.change(cut=self.next.cut.stop())
        self.forget_unanswered()
        self.change(speech=self.next.speech.drop().clear_stop(), queue=self.next.queue.clear())
        self.stop_ringing()
        self.release_hold()
        self.enter_rest(reason)

    def stop_ringing(self) -> None:
        """What rings has been heard, and is to ring no more."""
        if self.next.ringing.rings:
            self.change(ringing=self.next.ringing.stop())
            self.actions.append(StopRinging())

    def forget_unanswered(self) -> None:
        """The question that got no answer is not to join the next one."""
        if self.next.unanswered is not None:
            self.send("thinker", AnswerHeard(self.next.unanswered.turn, "", complete=False))
        self.change(unanswered=None)

    def enter_rest(self, reason: str) -> None:
        """Nothing is going on any more; what was waiting comes next."""
        now, policy = self.next, self.next.policy
        self.change(answer=None, speech=now.speech.end(), listening=now.listening.end_turn())
        if now.parts.broken:
            self.enter_state("failed", reason, policy.failed_s)
        else:
            self.enter_state("muted" if now.listening.microphone_off else "idle", reason)
        silent_s = policy.ring_every_s if now.ringing.began else 0.0
        self.change(ringing=now.ringing.put_off(self.now_s + silent_s))
        self.start_queued()

    def start_queued(self) -> None:
        """Begin what waits, if nothing else sounds."""
        if not self.next.at_rest or self.next.parts.voiceless:
            return
        if not self.next.queue.requests:
            if self.next.ring_due_s <= self.now_s:
                self.announce(*self.next.ringing.lines, ring=True)
                self.change(ringing=self.next.ringing.begin())
            return
        first = self.next.queue.requests[0]
        self.change(queue=self.next.queue.remove_first())
        if isinstance(first, Say):
            self.announce(first.text, chime=first.chime)
        elif isinstance(first, Ask):
            self.ask_thinker(Question(first.text, at_s=self.now_s, chosen=True))
        else:
            self.announce(*(self.next.last_lines or (self.say("nothing-said"),)))
