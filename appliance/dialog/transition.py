"""`Transition`: the operations by which handlers build the next state and its actions.

Pure: the state is immutable; a `Transition` exists during one call of `state_machine.step`.
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
    """One step under construction: `next` is the resulting state, `actions` are its effects."""

    def __init__(self, dialog: DialogState, now_s: float) -> None:
        self.next = dialog
        self.now_s = now_s
        self.actions: list[Action] = []

    def change(self, **fields: Any) -> None:
        self.next = replace(self.next, **fields)

    def send(self, part: PartName, message: Message) -> None:
        self.actions.append(SendMessage(part, message))

    def say(self, key: str, **values: Value) -> str:
        """The catalogue's sentence for `key`, in the dialogue's language."""
        return catalogue(self.next.language).say(key, **values)

    def log(self, text: str) -> None:
        self.actions.append(LogNote(text))

    def enter_state(
        self, state: StateName, reason: str, for_s: float = NEVER, *, ring: bool = False
    ) -> None:
        """Enter `state` for at most `for_s` seconds; announce it only if it has changed."""
        changed = state != self.next.state
        self.change(state=state, until_s=self.now_s + for_s)
        if changed:
            self.actions.append(AnnounceState(state, self.next.turn, reason, ring))

    def raise_turn(self) -> None:
        """Make a new turn valid, so that sound of older turns is dropped, queued or playing."""
        self.change(turn=self.next.turn + 1)
        self.actions.append(RaiseTurn(self.next.turn))

    def release_hold(self) -> None:
        """Release the newest hold, if it is open."""
        if self.next.hold.open:
            self.change(hold=self.next.hold.release())
            self.actions.append(ReleaseHold(self.next.hold.serial))

    def acknowledge_press(self) -> None:
        """Acknowledge the press; the sound that it should end must have been dropped before."""
        self.change(listening=self.next.listening.acknowledge_press())
        self.actions.append(AcknowledgePress())

    def hold_for(self, for_s: float) -> None:
        """Open the hold, or keep it open, for `for_s` seconds from now."""
        self.change(hold=self.next.hold.extend(self.now_s + for_s))

    def ask_thinker(self, question: Question) -> None:
        """Send `question` to the thinker, once the heard part of the last answer is known."""
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
        call = self.parse_plain_request(question)
        if call is None:
            self.announce(self.say("not-ready"))
            return
        self.raise_turn()
        self.change(answer=Answer(self.next.turn, question, ours=True, asked=True))
        self.enter_state("thinking", "asked", self.next.policy.think_s)
        self.answer_by_tool(call)

    def follow_language(self, language: str) -> None:
        """Use `language` for the box's own sentences, if the policy says so; "": no change."""
        if language and self.next.policy.follows_language:
            self.change(language=catalogue(language).language)

    def parse_plain_request(self, question: Question) -> ToolCall | None:
        """The tool call of `question`, if its words are known and a rule finds it in them."""
        intent = parse_intent(self.next.owner_words(question), self.next.language)
        if intent is None:
            return None
        self.follow_language(intent.language)
        return intent.call

    def answer_by_tool(self, call: ToolCall) -> None:
        """Use a tool whose reply is the complete answer to the current question."""
        assert self.next.answer is not None
        turn = self.next.answer.turn
        ended = ThoughtEnded(turn, 0, "complete")
        self.change(answer=replace(self.next.answer, thinking=True, deferred=(ended,)))
        self.use_tool(ToolCalled(turn, 0, call.name, dict(call.arguments)))

    def use_tool(self, called: ToolCalled) -> None:
        """Request the tool; the rest of the answer waits for its reply."""
        assert self.next.answer is not None
        self.change(answer=replace(self.next.answer, awaited_call=called.number))
        call, question = ToolCall(called.name, called.arguments), self.next.answer.question
        arguments = call, question.opening, question.first_turn, self.next.owner_words(question)
        self.actions.append(UseTool(called.turn, called.number, *arguments))

    def send_think(self) -> None:
        """Send the question to the thinker and start the thinking timeout."""
        seconds = self._send_question()
        self.enter_state("thinking", "asked", self.next.policy.think_s + seconds)

    def _send_question(self) -> float:
        """Send Think; the thinker itself adds the unanswered question that it kept. Returns the
        seconds of speech in both."""
        self.settle_cut()
        answer, earlier = self.next.answer, self.next.unanswered
        assert answer is not None
        self.send("thinker", Think(answer.turn, answer.question.utterances, answer.question.text))
        merged = answer.question.after(NOTHING_ASKED if earlier is None else earlier.asked)
        updated = replace(answer, question=merged, asked=True, thinking=True)
        self.change(answer=updated, unanswered=None)
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
        """Speak one more line of the answer, after a sound if `chime` or `ring`. `text` is
        normalised by plain_text.spoken already; the voice does not change it.

        A full answer takes no more lines, except the box's own (`ours`).
        """
        assert self.next.answer is not None
        answer = self.next.answer
        if not ours and (answer.full or not answer.has_room_for(text)):
            self.change(answer=replace(answer, full=True))
            return
        self.send("speaker", Speak(answer.turn, len(answer.lines), text, chime, ring, tokens))
        self.change(answer=answer.with_line(text, ours=ours, note=note))

    def close_answer(self, *, complete: bool) -> None:
        """Tell the speaker that no line follows in this answer."""
        answer = self.next.answer
        assert answer is not None
        self.send("speaker", EndAnswer(answer.turn))
        complete = complete and not answer.full
        self.change(answer=replace(answer, closed=True, complete=complete, thinking=False))
        self.extend_deadline()

    def announce(self, *lines: str, chime: bool = False, ring: bool = False, say: int = 0) -> None:
        """Speak lines of the box's own (`say`: Answer.number). A failed box stays `failed`."""
        self.drop_answer()
        self.raise_turn()
        self.change(answer=Answer(self.next.turn, ours=True, number=say))
        for line in lines:
            self.speak_line(spoken(line), ours=True, chime=chime and line is lines[0], ring=ring)
        self.close_answer(complete=False)
        if not self.next.parts.broken:
            self.enter_state("speaking", "it rings" if ring else "an announcement", ring=ring)
            self.extend_deadline()

    def apologise(self, text: str) -> None:
        """End the answer with `text`, in place of sentences that the thinker did not deliver."""
        self.abandon_thinking()
        self.speak_line(text, ours=True)
        self.close_answer(complete=False)

    def extend_deadline(self) -> None:
        """Set the deadline: end of the remaining sound, plus a margin or the thinking time."""
        answer, policy = self.next.answer, self.next.policy
        if answer is None:
            return
        more_s = policy.margin_s if answer.closed else policy.think_s
        if self.next.state == "speaking":
            self.change(until_s=self.now_s + answer.remaining_s(self.now_s) + more_s)
        elif self.next.state == "thinking" and answer.lines:
            self.change(until_s=self.now_s + more_s)

    def abandon_thinking(self) -> None:
        """Stop the thinker. An unsent Think is sent before, so that the question is kept."""
        if self.next.answer is None or self.next.answer.ours:
            return
        if not self.next.answer.asked:
            self._send_question()
        self.send("thinker", Abandon(self.next.answer.turn))
        self.change(answer=replace(self.next.answer, thinking=False))

    def still_asking(self, index: int) -> bool:
        """Whether speech that began at sample `index` lies in the answer's grace period and so
        continues the question. An unknown index is 0."""
        answer = self.next.answer
        if answer is None or answer.ours or not (answer.began and index):
            return False
        return index < answer.began + self.next.policy.grace_s * RATE_HZ

    def count_taken_back(self, index: int) -> None:
        """Count an answer as too early if speech at `index` precedes its grace period's end."""
        answer = self.next.answer
        if answer is None or answer.ours:
            return
        if not answer.began or self.still_asking(index):
            self.change(taken_back=self.next.taken_back + 1)

    def drop_answer(self, *, unwanted: bool = False, unheard: bool = False) -> None:
        """Cut the answer, if there is one; its heard part is settled when playback reports it.

        `unheard`: it counts as not heard at all, and its question is merged with the next one.
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
        """Record what was heard of the cut answer: up to `position`, or the last known one."""
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
        """Send the heard text, and no more, to the thinker's history and to the memory.

        An empty text tells the thinker to drop the question.
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
        """End the answer, the ringing and all that is queued, and drop unanswered questions."""
        self.drop_answer(unwanted=True)
        if self.next.cut is not None:
            self.change(cut=self.next.cut.stop())
        self.forget_unanswered()
        self.change(speech=self.next.speech.drop().clear_stop(), queue=self.next.queue.clear())
        self.stop_ringing()
        self.release_hold()
        self.enter_rest(reason)

    def stop_ringing(self) -> None:
        """Stop what rings, if anything does."""
        if self.next.ringing.rings:
            self.change(ringing=self.next.ringing.stop())
            self.actions.append(StopRinging())

    def forget_unanswered(self) -> None:
        """Drop the unanswered question, so that it is not merged with the next one."""
        if self.next.unanswered is not None:
            self.send("thinker", AnswerHeard(self.next.unanswered.turn, "", complete=False))
        self.change(unanswered=None)

    def enter_rest(self, reason: str) -> None:
        """Enter idle, muted or failed, then start what waits in the queue."""
        dialog, policy = self.next, self.next.policy
        self.change(answer=None, speech=dialog.speech.end(), listening=dialog.listening.end_turn())
        if dialog.parts.broken:
            self.enter_state("failed", reason, policy.failed_s)
        else:
            self.enter_state("muted" if dialog.listening.microphone_off else "idle", reason)
        silent_s = policy.ring_every_s if dialog.ringing.began else 0.0
        self.change(ringing=dialog.ringing.put_off(self.now_s + silent_s))
        self.start_queued()

    def start_queued(self) -> None:
        """Start the first queued request, or else a ring that is due, if nothing else sounds."""
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
            self.announce(first.text, chime=first.chime, say=first.number)
        elif isinstance(first, Ask):
            self.ask_thinker(Question(first.text, at_s=self.now_s, opening="typed"))
        else:
            self.announce(*(self.next.last_lines or (self.say("nothing-said"),)))
