"""Reports to the page whether an announcement that it asked for was heard to its end. Pure."""

from __future__ import annotations

from appliance.dialog.actions import SendMessage
from appliance.dialog.answer import Answer
from appliance.dialog.state import DialogState
from appliance.dialog.transition import Transition
from appliance.messages.commands import Announced, Say
from appliance.messages.playback import PlaybackFinished


def report_announcements(transition: Transition, before: DialogState, message: object) -> None:
    """Send an Announced for each announcement that `message` has ended, removed from the queue, or
    that the queue refused; it precedes the changes of state that follow from its end. `before`: the
    state before the message."""
    pending = _numbers(before)
    if isinstance(message, Say) and message.number:
        pending.add(message.number)
    for number in sorted(pending - _numbers(transition.next)):
        heard = before.answer is not None and before.answer.number == number
        heard = heard and _is_heard(before.answer, message)
        transition.actions.insert(0, SendMessage("page", Announced(number, heard)))


def _numbers(dialog: DialogState) -> set[int]:
    """The announcements that are queued or being spoken, of those that are to be reported."""
    found = {each.number for each in dialog.queue.requests if isinstance(each, Say)}
    if dialog.answer is not None:
        found.add(dialog.answer.number)
    return found - {0}


def _is_heard(answer: Answer | None, message: object) -> bool:
    """Whether `message` reports that the last sample has left the loudspeaker, and every line was
    spoken."""
    if answer is None or not isinstance(message, PlaybackFinished) or message.turn != answer.turn:
        return False
    return bool(answer.lines) and all(line.frames for line in answer.lines)
