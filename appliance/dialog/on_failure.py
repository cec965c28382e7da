"""Handlers of failures and recoveries of processes and sound cards."""

from __future__ import annotations

from dataclasses import replace

from appliance.dialog.actions import SendRecall
from appliance.dialog.on_listening_mode import end_talk
from appliance.dialog.on_user_speech import resume
from appliance.dialog.transition import Transition
from appliance.messages.commands import SetVolume
from appliance.messages.playback import CardFound, CardLost
from appliance.messages.speech import EndAnswer, SpeakerReady
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import RecallWanted, ThinkerReady, ThoughtEnded

_CARDS = {"capture": "the microphone", "playback": "the loudspeaker"}
_CARD_KEYS = {"the microphone": "part-microphone", "the loudspeaker": "part-loudspeaker"}


def part_changed(transition: Transition, change: PartChanged) -> None:
    """up: ends the failure; down: ends what depends on the part; failed and needed: failed"""
    if change.state == "up":
        if change.part == "thinker":
            transition.change(parts=transition.next.parts.set_thinker(up=True))
        if change.part == "listener":
            # The new process has not received the listening mode.
            transition.change(listening=transition.next.listening.mark_sent(None))
        if change.part == "playback" and transition.next.volume is not None:
            transition.send("playback", SetVolume(transition.next.volume))
        _restore(transition, change.part)
        return
    on_loss = _ON_LOSS.get(change.part)
    if on_loss is not None:
        on_loss(transition)
    if change.state == "failed" and change.part in transition.next.policy.needed:
        _fail(transition, change.part)
    elif change.state == "failed":
        transition.change(parts=transition.next.parts.fail(change.part, needed=False))


def card_lost(transition: Transition, card: CardLost) -> None:
    """enters failed until the card is found again"""
    transition.log(f"{_CARDS[card.direction]} is gone: {card.problem}")
    _fail(transition, _CARDS[card.direction])


def card_found(transition: Transition, card: CardFound) -> None:
    """ends the failure of the card"""
    _restore(transition, _CARDS[card.direction])


def send_recall(transition: Transition, wanted: RecallWanted) -> None:
    """sends the last turns from the memory to a thinker that has just started"""
    transition.actions.append(SendRecall())


def thinker_ready(transition: Transition, thinker: ThinkerReady) -> None:
    """marks the thinker as up, so that it gets the questions"""
    transition.change(parts=transition.next.parts.set_thinker(up=True))


def resend_end(transition: Transition, speaker: SpeakerReady) -> None:
    """repeats EndAnswer, which a speaker that died may have read and not carried out"""
    answer = transition.next.answer
    if answer is not None and answer.closed:
        transition.send("speaker", EndAnswer(answer.turn))
        transition.extend_deadline()


def _lose_thinker(transition: Transition) -> None:
    """End the current answer; the sentences received so far are still spoken."""
    answer = transition.next.answer
    transition.change(parts=transition.next.parts.set_thinker(up=False))
    if answer is not None and answer.awaited_call is not None:  # the tool still answers
        ended = ThoughtEnded(answer.turn, 0, "abandoned")
        transition.change(answer=replace(answer, deferred=(*answer.deferred, ended)))
    elif answer is not None and not answer.closed:
        if answer.lines:
            transition.abandon_thinking()  # its successor reads the channel
            transition.close_answer(complete=False)
        else:
            transition.apologise(transition.say("not-ready"))
    transition.change(unanswered=None)  # the process that kept it is gone


def _lose_listener(transition: Transition) -> None:
    """The listener is gone: nothing classifies an onset or ends an utterance."""
    if transition.next.hold.open:
        resume(transition, "the listener is gone")
    if transition.next.state == "listening":
        transition.enter_rest("the listener is gone")


def _lose_playback(transition: Transition) -> None:
    """Estimate the position by the clock; the next playback process continues the answer."""
    transition.settle_cut()
    if transition.next.answer is not None:
        transition.change(answer=transition.next.answer.silenced(transition.now_s))


def _lose_panel(transition: Transition) -> None:
    """End the talk with what was said so far: no release of the button will be reported."""
    if not transition.next.policy.toggle:
        end_talk(transition)


# Of the parts whose loss needs an action at once. The sound of a lost speaker plays to its end in
# the ring: `resend_end` and `_conclude` (on_answer.py) follow when the next speaker is up.
_ON_LOSS = {
    "thinker": _lose_thinker,
    "listener": _lose_listener,
    "playback": _lose_playback,
    "panel": _lose_panel,
}


def _fail(transition: Transition, what: str) -> None:
    """Enter failed, since the box cannot work without `what`; announce it once, if possible."""
    if what in transition.next.parts.broken:
        return
    transition.drop_answer()
    transition.release_hold()
    dialog = transition.next
    transition.change(parts=dialog.parts.fail(what, needed=True), speech=dialog.speech.drop())
    if transition.next.parts.voiceless:
        transition.settle_cut()  # playback will report nothing
    transition.enter_state("failed", f"{what} does not work", transition.next.policy.failed_s)
    if not transition.next.parts.voiceless:
        key = _CARD_KEYS.get(what, f"part-{what}")
        transition.announce(transition.say("part-broken", part=transition.say(key)))


def _restore(transition: Transition, what: str) -> None:
    was_broken = what in transition.next.parts.broken
    transition.change(parts=transition.next.parts.restore(what))
    if was_broken and transition.next.state == "failed" and not transition.next.parts.broken:
        transition.drop_answer()
        transition.enter_rest(f"{what} works again")


def failure_reminder(transition: Transition) -> None:
    """stays failed while the part is, and drops an announcement that never sounded"""
    transition.change(answer=None)
    transition.enter_rest("still failed")
