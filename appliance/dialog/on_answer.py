"""Handlers of messages about an answer, from thinker, speaker and playback."""

from __future__ import annotations

from dataclasses import replace

from appliance.dialog.on_tool import ToolReply, must_wait, speak_tool_answer, use_tool
from appliance.dialog.transition import Transition
from appliance.messages.commands import Say
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.speech import SpeakFailed, Spoken
from appliance.messages.thinking import Sentence, ThinkingProgress, ThoughtEnded
from appliance.messages.tools import ToolCalled
from appliance.tools.toolbox import NOTES

LOST_THREAD = "Sorry, I lost my thread. Please ask me again."
LOST_VOICE = "Sorry, I lost my voice for a moment. Please ask me again."
NOTHING_TO_SAY = "I have nothing to say to that."


def speak_sentence(step: Transition, sentence: Sentence) -> None:
    """of this answer: say it"""
    answer = step.next.answer
    text = sentence.text.strip()
    if answer is None or answer.turn != sentence.turn or not answer.thinking or not text:
        return
    if text in NOTES:
        return  # a model that copies what it reads in the history
    if must_wait(step, sentence):
        return
    step.speak_line(text)
    step.extend_deadline()


def end_thought(step: Transition, thought: ThoughtEnded) -> None:
    """no more sentences: the answer is closed; without any, or failed, the box says so"""
    answer = step.next.answer
    if answer is None or answer.turn != thought.turn or not answer.thinking:
        return
    if must_wait(step, thought):
        return
    if thought.reason == "failed" and not answer.lines:
        wanted = step.parse_plain_request(answer.question)
        if wanted is not None:
            step.log(f"the thinker failed, and a tool answers: {thought.problem}")
            step.answer_by_tool(wanted)
            return
    step.change(answer=replace(answer, thinking=False))
    if thought.reason == "failed":
        step.log(f"the thinker failed: {thought.problem}")
        step.speak_line(thought.aloud or LOST_THREAD, ours=True)
    elif not answer.lines:
        step.speak_line(NOTHING_TO_SAY, ours=True)
    step.close_answer(whole=thought.reason in ("complete", "limit"))


def extend_thinking(step: Transition, still: ThinkingProgress) -> None:
    """a slow model that gets on is waited for, up to a limit"""
    answer, policy = step.next.answer, step.next.policy
    if answer is None or answer.turn != still.turn or not answer.thinking or answer.lines:
        return
    latest_s = answer.question.at_s + policy.max_think_s
    until_s = min(step.now_s + policy.think_s, latest_s)
    step.change(until_s=max(step.next.until_s, until_s))


def handle_tool_reply(step: Transition, said: ToolReply) -> None:
    """the tool's answer is spoken, and after it what has waited for it"""
    for message in speak_tool_answer(step, said):
        match message:
            case Sentence():
                speak_sentence(step, message)
            case ToolCalled():
                use_tool(step, message)
            case ThoughtEnded():
                end_thought(step, message)


def note_timing(step: Transition, spoken: Spoken) -> None:
    """where a sentence lies in the sound"""
    answer, cut = step.next.answer, step.next.cut
    if answer is not None and answer.turn == spoken.turn:
        step.change(answer=answer.with_timing(spoken.number, spoken.position, spoken.frames))
        step.extend_deadline()
    elif cut is not None and cut.answer.turn == spoken.turn:
        step.change(cut=cut.set_timing(spoken.number, spoken.position, spoken.frames))


def skip_sentence(step: Transition, failure: SpeakFailed) -> None:
    """a sentence that could not be said counts as unheard"""
    answer = step.next.answer
    if answer is not None and answer.turn == failure.turn:
        step.log(f"a sentence could not be said: {failure.problem}")
        step.change(answer=answer.with_failed_line(failure.number))


def note_started(step: Transition, started: PlaybackStarted) -> None:
    """the answer sounds"""
    answer = step.next.answer
    if answer is None or answer.turn != started.turn or not answer.lines:
        return
    # A second time: playback was started anew and goes on where it was.
    began = answer.began if answer.started else started.index
    answer = replace(answer.at(answer.position, step.now_s, sounding=True), began=began)
    step.change(answer=answer)
    if step.next.hold.open:
        step.enter_state("holding", "the owner makes a sound")
    else:
        step.enter_state("speaking", "the answer sounds")
        step.extend_deadline()


def note_position(step: Transition, word: PlaybackPaused | PlaybackResumed) -> None:
    """as far as the answer is known to be heard"""
    answer, cut = step.next.answer, step.next.cut
    if answer is not None and answer.turn == word.turn:
        sounding = isinstance(word, PlaybackResumed)
        step.change(answer=answer.at(word.position, step.now_s, sounding=sounding))
        step.extend_deadline()
    elif cut is not None and cut.answer.turn == word.turn:
        step.change(cut=cut.set_position(word.position, step.now_s))


def finish_answer(step: Transition, finished: PlaybackFinished) -> None:
    """all of it was heard: remembered, and at rest"""
    answer, cut = step.next.answer, step.next.cut
    if cut is not None and cut.answer.turn == finished.turn:
        finish_cut_answer(step, PlaybackStopped(finished.turn, finished.position, finished.index))
    elif answer is not None and answer.turn == finished.turn:
        if answer.thinking:
            step.abandon_thinking()
        if answer.ours:
            spoken = tuple(line.text for line in answer.lines)
            step.change(ringing=step.next.ringing.finish(spoken))
        _conclude(step, answer.heard_text(), complete=answer.whole, reason="finished")


def finish_cut_answer(step: Transition, word: PlaybackStopped) -> None:
    """how much of a cut answer was heard: remembered; a Think that waited for this goes out"""
    answer, cut = step.next.answer, step.next.cut
    if answer is not None and answer.turn == word.turn:  # by itself: the card is gone
        step.drop_answer()
        step.settle_cut(word.position)
        step.release_hold()
        step.enter_rest("playback stopped")
    elif cut is not None and cut.answer.turn == word.turn:
        step.settle_cut(word.position)
        if answer is not None and not (answer.ours or answer.asked):
            step.send_think()


def _conclude(step: Transition, heard: str, *, complete: bool, reason: str) -> None:
    """`heard` is what was heard of the answer, which is over. None of it: say why, if there is a
    voice for that. Some of it: what follows needs no wake word for a while."""
    answer = step.next.answer
    assert answer is not None
    step.record_heard(answer, heard, complete=complete)
    if not heard and any(not line.ours for line in answer.lines):
        step.change(queue=step.next.queue.add_first(Say(LOST_VOICE)))
    if heard:
        listening, policy = step.next.listening, step.next.policy
        step.change(listening=listening.spare_wake_word(step.now_s, policy))
    step.enter_rest(reason)


def thinking_timeout(step: Transition) -> None:
    """a Think that waited goes out; without a sentence: apologise; without sound: at rest"""
    answer = step.next.answer
    assert answer is not None
    if not answer.asked:
        step.send_think()
    elif not answer.lines:
        step.apologise(LOST_THREAD)
    else:
        playback_timeout(step)


def playback_timeout(step: Transition) -> None:
    """the sound did not end as it should: what was heard is remembered, at rest"""
    answer = step.next.answer
    assert answer is not None
    step.abandon_thinking()
    step.raise_turn()
    step.release_hold()
    heard = answer.heard_text(answer.position_at(step.now_s))
    _conclude(step, heard, complete=False, reason="the sound did not come to its end")
