"""An answer is thought, spoken and heard: messages of thinker, speaker and playback."""

from __future__ import annotations

from dataclasses import replace

from appliance.dialog.on_tool import ToolReply, call, take_answer, waits
from appliance.dialog.transition import Transition
from appliance.messages.speech import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
    Say,
    Sentence,
    SpeakFailed,
    Spoken,
    ThinkingProgress,
    ThoughtEnded,
    ToolCalled,
)
from appliance.tools.toolbox import NOTES

LOST_THREAD = "Sorry, I lost my thread. Please ask me again."
LOST_VOICE = "Sorry, I lost my voice for a moment. Please ask me again."
NOTHING_TO_SAY = "I have nothing to say to that."


def speak(step: Transition, sentence: Sentence) -> None:
    """of this answer: say it"""
    answer = step.to.answer
    text = sentence.text.strip()
    if answer is None or answer.turn != sentence.turn or not answer.thinking or not text:
        return
    if text in NOTES:
        return  # a model that copies what it reads in the history
    if waits(step, sentence):
        return
    step.say(text)
    step.extend()


def end(step: Transition, thought: ThoughtEnded) -> None:
    """no more sentences: the answer is closed; without any, or failed, the box says so"""
    answer = step.to.answer
    if answer is None or answer.turn != thought.turn or not answer.thinking:
        return
    if waits(step, thought):
        return
    if thought.reason == "failed" and not answer.lines:
        wanted = step.plainly(answer.question)
        if wanted is not None:
            step.note(f"the thinker failed, and a tool answers: {thought.problem}")
            step.use_alone(wanted)
            return
    step.change(answer=replace(answer, thinking=False))
    if thought.reason == "failed":
        step.note(f"the thinker failed: {thought.problem}")
        step.say(thought.aloud or LOST_THREAD, ours=True)
    elif not answer.lines:
        step.say(NOTHING_TO_SAY, ours=True)
    step.close(whole=thought.reason in ("complete", "limit"))


def work_on(step: Transition, still: ThinkingProgress) -> None:
    """a slow model that gets on is waited for, up to a limit"""
    answer, rules = step.to.answer, step.to.rules
    if answer is None or answer.turn != still.turn or not answer.thinking or answer.lines:
        return
    latest_s = answer.question.at_s + rules.most_think_s
    until_s = min(step.now_s + rules.think_s, latest_s)
    step.change(until_s=max(step.to.until_s, until_s))


def tool_said(step: Transition, said: ToolReply) -> None:
    """the tool's answer is spoken, and after it what has waited for it"""
    for message in take_answer(step, said):
        match message:
            case Sentence():
                speak(step, message)
            case ToolCalled():
                call(step, message)
            case ThoughtEnded():
                end(step, message)


def measure(step: Transition, spoken: Spoken) -> None:
    """where a sentence lies in the sound"""
    answer, cut = step.to.answer, step.to.cut
    if answer is not None and answer.turn == spoken.turn:
        step.change(answer=answer.measured(spoken.number, spoken.position, spoken.frames))
        step.extend()
    elif cut is not None and cut.turn == spoken.turn:
        step.change(cut=cut.measured(spoken.number, spoken.position, spoken.frames))


def skip(step: Transition, failure: SpeakFailed) -> None:
    """a sentence that could not be said counts as unheard"""
    answer = step.to.answer
    if answer is not None and answer.turn == failure.turn:
        step.note(f"a sentence could not be said: {failure.problem}")
        step.change(answer=answer.failed(failure.number))


def begin(step: Transition, started: PlaybackStarted) -> None:
    """the answer sounds"""
    answer = step.to.answer
    if answer is None or answer.turn != started.turn or not answer.lines:
        return
    # A second time: playback was started anew and goes on where it was.
    began = answer.began if answer.started else started.index
    answer = replace(answer.at(answer.position, step.now_s, sounding=True), began=began)
    step.change(answer=answer)
    if step.to.held:
        step.become("holding", "the owner makes a sound")
    else:
        step.become("speaking", "the answer sounds")
        step.extend()


def locate(step: Transition, word: PlaybackPaused | PlaybackResumed) -> None:
    """as far as the answer is known to be heard"""
    answer, cut = step.to.answer, step.to.cut
    if answer is not None and answer.turn == word.turn:
        sounding = isinstance(word, PlaybackResumed)
        step.change(answer=answer.at(word.position, step.now_s, sounding=sounding))
        step.extend()
    elif cut is not None and cut.turn == word.turn:
        step.change(cut=cut.at(word.position, step.now_s, sounding=False))


def finish(step: Transition, finished: PlaybackFinished) -> None:
    """all of it was heard: remembered, and at rest"""
    answer, cut = step.to.answer, step.to.cut
    if cut is not None and cut.turn == finished.turn:
        stopped(step, PlaybackStopped(finished.turn, finished.position, finished.index))
    elif answer is not None and answer.turn == finished.turn:
        if answer.thinking:
            step.abandon()
        if answer.ours and tuple(line.text for line in answer.lines) == step.to.ringing:
            step.change(rung_out=True)
        _conclude(step, answer.heard(), complete=answer.whole, reason="finished")


def stopped(step: Transition, word: PlaybackStopped) -> None:
    """how much of a cut answer was heard: remembered; a Think that waited for this goes out"""
    answer, cut = step.to.answer, step.to.cut
    if answer is not None and answer.turn == word.turn:  # by itself: the card is gone
        step.drop_answer()
        step.settle_cut(word.position)
        step.release()
        step.rest("playback stopped")
    elif cut is not None and cut.turn == word.turn:
        step.settle_cut(word.position)
        if answer is not None and not (answer.ours or answer.asked):
            step.send_think()


def _conclude(step: Transition, heard: str, *, complete: bool, reason: str) -> None:
    """`heard` is what was heard of the answer, which is over. None of it: say why, if there is a
    voice for that. Some of it: what follows needs no wake word for a while."""
    answer = step.to.answer
    assert answer is not None
    step.was_heard(answer, heard, complete=complete)
    if not heard and any(not line.ours for line in answer.lines):
        step.change(waiting=(Say(LOST_VOICE), *step.to.waiting))
    if heard and step.to.mode == "wake_word" and step.to.rules.follow_s:
        step.change(open_until_s=step.now_s + step.to.rules.follow_s)
    step.rest(reason)


def thought_in_vain(step: Transition) -> None:
    """a Think that waited goes out; without a sentence: apologise; without sound: at rest"""
    answer = step.to.answer
    assert answer is not None
    if not answer.asked:
        step.send_think()
    elif not answer.lines:
        step.apologise(LOST_THREAD)
    else:
        fell_silent(step)


def fell_silent(step: Transition) -> None:
    """the sound did not end as it should: what was heard is remembered, at rest"""
    answer = step.to.answer
    assert answer is not None
    step.abandon()
    step.raise_turn()
    step.release()
    heard = answer.heard(answer.position_at(step.now_s))
    _conclude(step, heard, complete=False, reason="the sound did not come to its end")
