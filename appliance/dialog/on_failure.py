"""Handlers of failures and recoveries of processes and sound cards."""

from __future__ import annotations

from dataclasses import replace

from appliance.dialog.actions import SendRecall
from appliance.dialog.on_user_speech import resume
from appliance.dialog.transition import NOT_READY, Transition
from appliance.messages.commands import SetVolume
from appliance.messages.playback import CardFound, CardLost
from appliance.messages.speech import EndAnswer, SpeakerReady
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import RecallWanted, ThinkerReady, ThoughtEnded

BROKEN = "Something is wrong with me: {} does not work."
_CARDS = {"capture": "the microphone", "playback": "the loudspeaker"}


def part_changed(step: Transition, change: PartChanged) -> None:
    """up: mended; down: on without it as far as that goes; failed and needed: failed"""
    if change.state == "up":
        if change.part == "thinker":
            step.change(parts=step.next.parts.set_thinker(up=True))
        if change.part == "listener":
            # It knows nothing of what its predecessor was told.
            step.change(listening=step.next.listening.mark_sent(None))
        if change.part == "playback" and step.next.volume is not None:
            step.send("playback", SetVolume(step.next.volume))
        _mended(step, change.part)
        return
    lose = _LOSE.get(change.part)
    if lose is not None:
        lose(step)
    if change.state == "failed" and change.part in step.next.policy.needed:
        _broken(step, change.part)
    elif change.state == "failed":
        step.change(parts=step.next.parts.fail(change.part, needed=False))


def card_lost(step: Transition, card: CardLost) -> None:
    """failed until it is found again"""
    step.log(f"{_CARDS[card.direction]} is gone: {card.problem}")
    _broken(step, _CARDS[card.direction])


def card_found(step: Transition, card: CardFound) -> None:
    """as before it was lost"""
    _mended(step, _CARDS[card.direction])


def send_recall(step: Transition, wanted: RecallWanted) -> None:
    """a thinker that has just begun gets the last turns from memory"""
    step.actions.append(SendRecall())


def thinker_ready(step: Transition, thinker: ThinkerReady) -> None:
    """from now on questions go to the thinker"""
    step.change(parts=step.next.parts.set_thinker(up=True))


def resend_end(step: Transition, speaker: SpeakerReady) -> None:
    """one that died may have taken the end of the answer with it"""
    answer = step.next.answer
    if answer is not None and answer.closed:
        step.send("speaker", EndAnswer(answer.turn))
        step.extend_deadline()


def _lose_thinker(step: Transition) -> None:
    """What it was at will not come; what it said so far is still spoken."""
    answer = step.next.answer
    step.change(parts=step.next.parts.set_thinker(up=False))
    if answer is not None and answer.awaits is not None:  # the tool still answers
        over = ThoughtEnded(answer.turn, 0, "abandoned")
        step.change(answer=replace(answer, behind=(*answer.behind, over)))
    elif answer is not None and not answer.closed:
        if answer.lines:
            step.abandon_thinking()  # for the one that finds its mail
            step.close_answer(whole=False)
        else:
            step.apologise(NOT_READY)
    step.change(unanswered=None)  # who kept it is gone


def _lose_listener(step: Transition) -> None:
    """The listener is gone: nothing classifies an onset or ends an utterance."""
    if step.next.hold.open:
        resume(step, "the listener is gone")
    if step.next.state == "listening":
        step.enter_rest("the listener is gone")


def _lose_playback(step: Transition) -> None:
    """The next one goes on with the answer; how far this one came is known by the clock only."""
    step.settle_cut()
    if step.next.answer is not None:
        step.change(answer=step.next.answer.silenced(step.now_s))


_LOSE = {"thinker": _lose_thinker, "listener": _lose_listener, "playback": _lose_playback}


def _broken(step: Transition, what: str) -> None:
    """Without `what` the box is dead: say so, once, by voice if there is one."""
    if what in step.next.parts.broken:
        return
    step.drop_answer()
    step.release_hold()
    now = step.next
    step.change(parts=now.parts.fail(what, needed=True), speech=now.speech.drop())
    if step.next.parts.voiceless:
        step.settle_cut()  # nobody is left to tell
    step.enter_state("failed", f"{what} does not work", step.next.policy.failed_s)
    if not step.next.parts.voiceless:
        step.announce(BROKEN.format(what if what.startswith("the ") else f"my {what}"))


def _mended(step: Transition, what: str) -> None:
    was_broken = what in step.next.parts.broken
    step.change(parts=step.next.parts.restore(what))
    if was_broken and step.next.state == "failed" and not step.next.parts.broken:
        step.drop_answer()
        step.enter_rest(f"{what} works again")


def failure_reminder(step: Transition) -> None:
    """failed for as long as the part is; an announcement that never sounded is given up"""
    step.change(answer=None)
    step.enter_rest("still failed")
