"""Handlers of tool calls, of tools' replies, and of ringing timers.

They come from the thinker, and from the conductor's own tools (tool_runner.py)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.dialog.transition import Transition
from appliance.messages.thinking import Sentence, ThoughtEnded
from appliance.messages.tools import ToolAnswered, ToolCalled
from appliance.plain_text import spoken


@dataclass(frozen=True)
class ToolReply:
    """The tool of call `number` of answer `turn` says these sentences.

    `note`: what the model and the memory keep in place of them; "": the sentences themselves.
    """

    turn: int
    number: int
    lines: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True)
class Ringing:
    """What rings now, a sentence each; (): nothing does any more."""

    lines: tuple[str, ...]


def use_tool(transition: Transition, called: ToolCalled) -> None:
    """of this answer: the tool is used; what the thinker says after it waits for the tool"""
    answer = transition.next.answer
    if answer is None or answer.turn != called.turn or not answer.thinking:
        return
    if not must_wait(transition, called):
        transition.use_tool(called)


def must_wait(transition: Transition, message: Sentence | ToolCalled | ThoughtEnded) -> bool:
    """Whether this word of the thinker is to wait for a tool, which was called before it."""
    answer = transition.next.answer
    if answer is None or answer.awaits is None:
        return False
    transition.change(answer=replace(answer, behind=(*answer.behind, message)))
    return True


def speak_tool_answer(
    transition: Transition, said: ToolReply
) -> tuple[Sentence | ToolCalled | ThoughtEnded, ...]:
    """Speak what the tool says. Returns what has waited for it."""
    answer = transition.next.answer
    if answer is None or answer.closed or (answer.turn, answer.awaits) != (said.turn, said.number):
        return ()  # too late: the owner went on to something else
    transition.change(answer=replace(answer, awaits=None, behind=()))
    for number, line in enumerate(said.lines):
        transition.speak_line(
            spoken(line), note=(said.note if number == 0 else "") if said.note else None
        )
    transition.extend_deadline()
    if not answer.ours:
        kept = said.note or " ".join(said.lines)
        transition.send("thinker", ToolAnswered(said.turn, said.number, kept))
    return answer.behind


def start_ringing(transition: Transition, ringing: Ringing) -> None:
    """as soon as the owner has spoken and was answered; a long answer is cut for it"""
    now = transition.next
    patience_s = 0.0 if now.at_rest else now.policy.ring_patience_s
    transition.change(ringing=now.ringing.set_lines(ringing.lines, transition.now_s + patience_s))
    if now.ringing.lacks(ringing.lines):
        transition.start_queued()


def repeat_ringing(transition: Transition) -> None:
    """It is time to: the box is at rest, or gives a long answer."""
    if not transition.next.at_rest:
        transition.drop_answer()
        transition.release_hold()
        transition.enter_rest("something rings")
        return
    transition.start_queued()
    if transition.next.at_rest:  # there is no voice for it
        at_s = transition.now_s + transition.next.policy.ring_every_s
        transition.change(ringing=transition.next.ringing.put_off(at_s))
