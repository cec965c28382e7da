"""Handlers of the listener's messages: onsets, verdicts and utterances of the owner."""

from __future__ import annotations

from appliance.dialog.answer import Question
from appliance.dialog.state import NEVER
from appliance.dialog.transition import Transition
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.pcm import RATE_HZ


def hold_output(step: Transition, onset: Onset) -> None:
    """nothing may begin to sound until the verdict"""
    step.change(hold=onset.serial, onset_index=onset.index, resume_reason="")
    step.hold_for(step.next.rules.verdict_s)
    if step.next.deaf:
        step.release_hold()  # a straggler from before


def pause_answer(step: Transition, onset: Onset) -> None:
    """the listener has paused playback: holding until the verdict"""
    to = step.next
    if to.state == "speaking" and step.now_s - to.went_on_s < to.rules.rapid_interrupt_s:
        step.change(rapid_interrupt_since_s=step.now_s)
    hold_output(step, onset)
    if step.next.held:
        step.enter_state("holding", "the owner makes a sound")


def apply_verdict(step: Transition, verdict: Verdict) -> None:
    """noise or a backchannel lets go; after an interruption words are awaited"""
    if verdict.serial == step.next.stop_word_serial and verdict.kind != "interruption":
        step.stop_all("told to stop")  # no utterance will follow
    elif verdict.serial != step.next.hold or not step.next.held:
        return
    elif verdict.kind == "interruption":
        step.hold_for(step.next.rules.speech_s)
    else:
        release_hold(step, verdict.kind)


def apply_verdict_to_answer(step: Transition, verdict: Verdict) -> None:
    """noise or a backchannel: the answer goes on, if need be after some calm; interruption: what is
    left of it is dropped"""
    if verdict.serial != step.next.hold or step.next.deaf:
        return
    if verdict.kind == "interruption":  # also when it comes late, with playback going on again
        step.drop_answer(unheard=step.still_asking(step.next.onset_index))
        step.release_hold()
        step.enter_state("listening", "interrupted", step.next.rules.speech_s)
    elif step.next.held:
        _go_on_in_calm(step, verdict.kind)


def _go_on_in_calm(step: Transition, reason: str) -> None:
    """An answer that went on a moment ago and was paused again would only stammer."""
    since_s, rules = step.next.rapid_interrupt_since_s, step.next.rules
    if since_s < NEVER and step.now_s + rules.resume_debounce_s < since_s + rules.max_resume_wait_s:
        step.change(resume_reason=reason)
        step.hold_for(rules.resume_debounce_s)
    else:
        release_hold(step, reason)


def release_hold(step: Transition, reason: str) -> None:
    """Let go of the hold, and of the state `holding` with it."""
    step.release_hold()
    if step.next.state == "holding":
        step.change(went_on_s=step.now_s)
        step.enter_state("speaking", reason)
        step.extend_deadline()
    step.start_queued()


def start_listening(step: Transition, speech: SpeechStarted) -> None:
    """the owner speaks: an answer in thought or in the air is dropped"""
    if not step.next.deaf:
        _listen(step, speech.utterance, speech.index)


def end_speech(step: Transition, speech: SpeechEnded) -> None:
    """a piece: listen on; the last: think about it, unless it was a mere "stop\""""
    if step.next.deaf or speech.utterance == step.next.dropped:
        return
    if not speech.last:
        _listen(step, speech.utterance)
        return
    seconds = speech.frames / RATE_HZ
    if seconds > step.next.rules.stop_s:
        step.change(long_utterance=speech.utterance)
    elif speech.utterance == step.next.stop_word_serial:
        step.stop_all("told to stop")
        return
    if speech.frames > 0:
        if (
            step.next.rang_through
        ):  # whoever speaks to it now has heard it; before, it may be an echo
            step.stop_ringing()
        chosen = step.next.opened_for_turn or step.next.mode != "open"
        step.ask_thinker(Question("", seconds, (speech.utterance,), step.now_s, chosen))
    elif step.next.state == "listening":
        _nothing_came(step, "nothing was said")


def _listen(step: Transition, utterance: int, index: int = 0) -> None:
    step.drop_answer(unheard=step.still_asking(index))
    step.change(utterance=utterance)
    step.enter_state("listening", "the owner speaks", step.next.rules.listening_s)
    if step.next.held:
        step.hold_for(step.next.rules.listening_s)


def _nothing_came(step: Transition, reason: str) -> None:
    step.settle_cut()
    step.forget_unanswered()
    step.change(dropped=step.next.utterance, stop_word_serial=0)
    step.release_hold()
    step.enter_rest(reason)


def listening_timeout(step: Transition) -> None:
    """nothing more came: at rest"""
    _nothing_came(step, "nothing more came")
