"""Handlers of tool calls, of tools' replies, and of ringing timers.

The thinker sends the calls; replies and ringing come from tool_runner.py in the conductor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.dialog.transition import Transition
from appliance.messages.thinking import Sentence, ThoughtEnded
from appliance.messages.tools import ToolAnswered, ToolCalled
from appliance.plain_text import spoken


@dataclass(frozen=True)
class ToolReply:
    """The sentences with which a tool replies to call `number` of answer `turn`.

    `note`: what the model's history and the memory store in their place; "": the sentences.
    `confirms`: they ask the owner to request something once more.
    """

    turn: int
    number: int
    lines: tuple[str, ...]
    note: str = ""
    confirms: bool = False


@dataclass(frozen=True)
class Ringing:
    """Timers and alarms that ring now, one sentence each; (): nothing rings any more."""

    lines: tuple[str, ...]


def use_tool(transition: Transition, called: ToolCalled) -> None:
    """runs a tool for the current answer; later messages of the thinker wait for its reply"""
    answer = transition.next.answer
    if answer is None or answer.turn != called.turn or not answer.thinking:
        return
    if not defer_for_tool(transition, called):
        transition.use_tool(called)


def defer_for_tool(transition: Transition, message: Sentence | ToolCalled | ThoughtEnded) -> bool:
    """Whether a tool's reply is pending; if so, store `message` until the reply comes."""
    answer = transition.next.answer
    if answer is None or answer.awaited_call is None:
        return False
    transition.change(answer=replace(answer, deferred=(*answer.deferred, message)))
    return True


def speak_tool_answer(
    transition: Transition, reply: ToolReply
) -> tuple[Sentence | ToolCalled | ThoughtEnded, ...]:
    """Speak the tool's reply. Returns the messages that waited for it."""
    answer = transition.next.answer
    if (
        answer is None
        or answer.closed
        or (answer.turn, answer.awaited_call) != (reply.turn, reply.number)
    ):
        return ()  # too late: the owner went on to something else
    transition.change(answer=replace(answer, awaited_call=None, deferred=()))
    if reply.confirms:
        transition.change(listening=transition.next.listening.await_confirmation())
    for number, line in enumerate(reply.lines):
        transition.speak_line(
            spoken(line), note=(reply.note if number == 0 else "") if reply.note else None
        )
    transition.extend_deadline()
    if not answer.ours:
        text = reply.note or " ".join(reply.lines)
        transition.send("thinker", ToolAnswered(reply.turn, reply.number, text))
    return answer.deferred


def start_ringing(transition: Transition, ringing: Ringing) -> None:
    """rings once the box is at rest; an answer that goes on for too long is cut"""
    dialog = transition.next
    patience_s = 0.0 if dialog.at_rest else dialog.policy.ring_patience_s
    transition.change(
        ringing=dialog.ringing.set_lines(ringing.lines, transition.now_s + patience_s)
    )
    if dialog.ringing.lacks(ringing.lines):
        transition.start_queued()


def repeat_ringing(transition: Transition) -> None:
    """Ring again, which is due; a long answer is cut first."""
    if not transition.next.at_rest:
        transition.drop_answer()
        transition.release_hold()
        transition.enter_rest("something rings")
        return
    transition.start_queued()
    if transition.next.at_rest:  # there is no voice
        at_s = transition.now_s + transition.next.policy.ring_every_s
        transition.change(ringing=transition.next.ringing.put_off(at_s))
