"""Handlers of the listener's messages: onsets, verdicts and utterances of the owner."""

from __future__ import annotations

from appliance.dialog.answer import Question
from appliance.dialog.transition import Transition
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.pcm import RATE_HZ


def hold_output(step: Transition, onset: Onset) -> None:
    """nothing may begin to sound until the verdict"""
    until_s = step.now_s + step.next.policy.verdict_s
    step.change(hold=step.next.hold.start(onset.serial, onset.index, until_s))
    if step.next.listening.microphone_off:
        step.release_hold()  # a straggler from before


def pause_answer(step: Transition, onset: Onset) -> None:
    """the listener has paused playback: holding until the verdict"""
    sounds = step.next.state == "speaking"
    hold_output(step, onset)
    if step.next.hold.open:
        if sounds:
            step.change(hold=step.next.hold.mark_rapid(step.now_s, step.next.policy))
        step.enter_state("holding", "the owner makes a sound")


def apply_verdict(step: Transition, verdict: Verdict) -> None:
    """noise or a backchannel lets go; after an interruption words are awaited"""
    if verdict.serial == step.next.speech.stop_serial and verdict.kind != "interruption":
        step.stop_all("told to stop")  # no utterance will follow
    elif verdict.serial != step.next.hold.serial or not step.next.hold.open:
        return
    elif verdict.kind == "interruption":
        step.hold_for(step.next.policy.speech_s)
    else:
        resume(step, verdict.kind)


def apply_verdict_to_answer(step: Transition, verdict: Verdict) -> None:
    """noise or a backchannel: the answer goes on, if need be after some calm; interruption: what is
    left of it is dropped"""
    if verdict.serial != step.next.hold.serial or step.next.listening.microphone_off:
        return
    if verdict.kind == "interruption":  # also when it comes late, with playback going on again
        step.drop_answer(unheard=step.still_asking(step.next.hold.onset_index))
        step.release_hold()
        step.enter_state("listening", "interrupted", step.next.policy.speech_s)
    elif step.next.hold.open:
        _resume_after_debounce(step, verdict.kind)


def _resume_after_debounce(step: Transition, reason: str) -> None:
    """An answer that resumed a moment ago and was paused again would only stammer."""
    hold, policy = step.next.hold, step.next.policy
    if hold.needs_debounce(step.now_s, policy):
        step.change(hold=hold.debounce(reason, step.now_s + policy.resume_debounce_s))
    else:
        resume(step, reason)


def resume(step: Transition, reason: str) -> None:
    """Let go of the hold, and of the state `holding` with it."""
    step.release_hold()
    if step.next.state == "holding":
        step.change(hold=step.next.hold.resume(step.now_s))
        step.enter_state("speaking", reason)
        step.extend_deadline()
    step.start_queued()


def start_listening(step: Transition, speech: SpeechStarted) -> None:
    """the owner speaks: an answer in thought or in the air is dropped"""
    if not step.next.listening.microphone_off:
        _listen(step, speech.utterance, speech.index)


def end_speech(step: Transition, speech: SpeechEnded) -> None:
    """a piece: listen on; the last: think about it, unless it was a mere "stop\""""
    owner = step.next.speech
    if step.next.listening.microphone_off or speech.utterance == owner.dropped:
        return
    if not speech.last:
        _listen(step, speech.utterance)
        return
    seconds = speech.frames / RATE_HZ
    if seconds > step.next.policy.stop_s:
        step.change(speech=owner.note_long(speech.utterance))
    elif speech.utterance == owner.stop_serial:
        step.stop_all("told to stop")
        return
    if speech.frames > 0:
        if step.next.ringing.heard:  # before, it may be the echo of the ringing
            step.stop_ringing()
        chosen = step.next.listening.chosen
        step.ask_thinker(Question("", seconds, (speech.utterance,), step.now_s, chosen))
    elif step.next.state == "listening":
        _nothing_came(step, "nothing was said")


def _listen(step: Transition, utterance: int, index: int = 0) -> None:
    step.drop_answer(unheard=step.still_asking(index))
    step.change(speech=step.next.speech.listen(utterance))
    step.enter_state("listening", "the owner speaks", step.next.policy.listening_s)
    if step.next.hold.open:
        step.hold_for(step.next.policy.listening_s)


def _nothing_came(step: Transition, reason: str) -> None:
    step.settle_cut()
    step.forget_unanswered()
    step.change(speech=step.next.speech.drop().clear_stop())
    step.release_hold()
    step.enter_rest(reason)


def listening_timeout(step: Transition) -> None:
    """nothing more came: at rest"""
    _nothing_came(step, "nothing more came")
