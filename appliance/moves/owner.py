"""The owner makes a sound, or speaks: messages of the listener."""

from __future__ import annotations

from appliance.answer import RATE_HZ, Question
from appliance.messages import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.moves.step import Step


def hold(step: Step, onset: Onset) -> None:
    """nothing may begin to sound until the verdict"""
    step.change(hold=onset.serial)
    step.hold_for(step.to.rules.verdict_s)
    if step.to.muted:
        step.release()  # a straggler from before


def pause(step: Step, onset: Onset) -> None:
    """the listener has paused playback: holding until the verdict"""
    hold(step, onset)
    if step.to.held:
        step.become("holding", "the owner makes a sound")


def judge(step: Step, verdict: Verdict) -> None:
    """noise or a backchannel lets go; after an interruption words are awaited"""
    if verdict.serial != step.to.hold or not step.to.held:
        return
    if verdict.kind == "interruption":
        step.hold_for(step.to.rules.speech_s)
    else:
        go_on(step, verdict.kind)


def decide(step: Step, verdict: Verdict) -> None:
    """noise or a backchannel: the answer goes on; interruption: what is left of it is dropped"""
    if verdict.serial != step.to.hold:
        return
    if verdict.kind == "interruption":  # also when it comes late, with playback going on again
        step.drop_answer()
        step.release()
        step.become("listening", "interrupted", step.to.rules.speech_s)
    elif step.to.held:
        go_on(step, verdict.kind)


def go_on(step: Step, reason: str) -> None:
    """Let go of the hold, and of the state `holding` with it."""
    step.release()
    if step.to.state == "holding":
        step.become("speaking", reason)
        step.extend()
    step.next_in_line()


def listen(step: Step, speech: SpeechStarted) -> None:
    """the owner speaks: an answer in thought or in the air is dropped"""
    if not step.to.muted:
        _listen(step, speech.utterance)


def take(step: Step, speech: SpeechEnded) -> None:
    """a piece: listen on; the last: think about it"""
    if step.to.muted or speech.utterance == step.to.dropped:
        return
    if not speech.last:
        _listen(step, speech.utterance)
    elif speech.frames > 0:
        seconds = speech.frames / RATE_HZ
        step.ask(Question("", seconds, (speech.utterance,), step.now_s))
    elif step.to.state == "listening":
        step.release()
        step.rest("nothing was said")


def _listen(step: Step, utterance: int) -> None:
    step.drop_answer()
    step.change(utterance=utterance)
    step.become("listening", "the owner speaks", step.to.rules.listening_s)
    if step.to.held:
        step.hold_for(step.to.rules.listening_s)


# ── time is up ───────────────────────────────────────────────────────────────────────────────
def listened_in_vain(step: Step) -> None:
    """nothing more came: at rest"""
    step.change(dropped=step.to.utterance)
    step.release()
    step.rest("nothing more came")
