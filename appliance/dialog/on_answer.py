"""Handlers of messages about an answer, from thinker, speaker and playback."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.dialog.on_tool import ToolReply, defer_for_tool, speak_tool_answer, use_tool
from appliance.dialog.transition import Transition
from appliance.language.catalogue import english
from appliance.language.common_words import language_by_words
from appliance.messages.commands import Say
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.speech import PrepareSpeech, SpeakFailed, Spoken
from appliance.messages.thinking import (
    AnswerBegun,
    Sentence,
    ThinkingProgress,
    ThoughtEnded,
    Transcribed,
)
from appliance.messages.tools import ToolCalled
from appliance.tools.toolbox import NOTES


def prepare_speech(transition: Transition, message: AnswerBegun) -> None:
    """has the speaker synthesise the likely first words of the next answer, if none is current"""
    if transition.next.answer is None:
        transition.send("speaker", PrepareSpeech(message.text, message.tokens))


def speak_sentence(transition: Transition, sentence: Sentence) -> None:
    """sends a sentence of the current answer to the speaker"""
    answer = transition.next.answer
    text = sentence.text.strip()
    if answer is None or answer.turn != sentence.turn or not answer.thinking or not text:
        return
    if text in NOTES:
        return  # the model copied a note from its history
    if defer_for_tool(transition, sentence):
        return
    transition.speak_line(text, tokens=sentence.tokens)
    transition.extend_deadline()


def end_thought(transition: Transition, thought: ThoughtEnded) -> None:
    """closes the answer; if it failed or has no sentence, the box says so"""
    answer = transition.next.answer
    if answer is None or answer.turn != thought.turn or not answer.thinking:
        return
    if defer_for_tool(transition, thought):
        return
    if thought.reason == "failed" and not answer.lines:
        call = transition.parse_plain_request(answer.question)
        if call is not None:
            transition.log(f"the thinker failed, and a tool answers: {thought.problem}")
            transition.answer_by_tool(call)
            return
    transition.change(answer=replace(answer, thinking=False))
    if thought.reason == "failed":
        transition.log(f"the thinker failed: {thought.problem}")
        known = thought.aloud in english()
        transition.speak_line(transition.say(thought.aloud if known else "lost-thread"), ours=True)
    elif not answer.lines:
        transition.speak_line(transition.say("nothing-to-say"), ours=True)
    transition.close_answer(complete=thought.reason in ("complete", "limit"))


def extend_thinking(transition: Transition, progress: ThinkingProgress) -> None:
    """extends the thinking timeout while a slow model makes progress, up to a limit"""
    answer, policy = transition.next.answer, transition.next.policy
    if answer is None or answer.turn != progress.turn or not answer.thinking or answer.lines:
        return
    latest_s = answer.question.at_s + policy.max_think_s
    until_s = min(transition.now_s + policy.think_s, latest_s)
    transition.change(until_s=max(transition.next.until_s, until_s))


def handle_tool_reply(transition: Transition, reply: ToolReply) -> None:
    """speaks the tool's reply, then handles the messages that waited for it"""
    for message in speak_tool_answer(transition, reply):
        match message:
            case Sentence():
                speak_sentence(transition, message)
            case ToolCalled():
                use_tool(transition, message)
            case ThoughtEnded():
                end_thought(transition, message)


@dataclass(frozen=True)
class OwnerLanguage:
    """The language of question `turn` (ISO 639-1), found from its transcript."""

    turn: int
    language: str

    @classmethod
    def of(cls, transcript: Transcribed) -> OwnerLanguage:
        return cls(transcript.turn, language_by_words(transcript.text))


def follow_transcript(transition: Transition, owner_language: OwnerLanguage) -> None:
    """sets the language of the box's own sentences to that of the newest question"""
    if owner_language.turn == transition.next.turn:
        transition.follow_language(owner_language.language)


def note_timing(transition: Transition, spoken: Spoken) -> None:
    """stores the position and length of a sentence in the sound"""
    if spoken.passed_on:
        transition.change(passed_on=transition.next.passed_on + 1)
    answer, cut = transition.next.answer, transition.next.cut
    if answer is not None and answer.turn == spoken.turn:
        if not answer.ours:
            transition.follow_language(spoken.language)
        transition.change(answer=answer.with_spoken(spoken))
        transition.extend_deadline()
    elif cut is not None and cut.answer.turn == spoken.turn:
        transition.change(cut=cut.set_timing(spoken))


def skip_sentence(transition: Transition, failure: SpeakFailed) -> None:
    """marks a sentence that could not be spoken as not heard"""
    answer = transition.next.answer
    if answer is not None and answer.turn == failure.turn:
        transition.log(f"a sentence could not be spoken: {failure.problem}")
        transition.change(answer=answer.with_failed_line(failure.number))


def note_started(transition: Transition, started: PlaybackStarted) -> None:
    """notes that the answer sounds: speaking, or holding if playback is held"""
    answer = transition.next.answer
    if answer is None or answer.turn != started.turn or not answer.lines:
        return
    # A second start: playback was restarted and continues where it was.
    began = answer.began if answer.started else started.index
    answer = replace(answer.at(answer.position, transition.now_s, sounding=True), began=began)
    transition.change(answer=answer)
    if transition.next.hold.open:
        transition.enter_state("holding", "the owner makes a sound")
    else:
        transition.enter_state("speaking", "the answer sounds")
        transition.extend_deadline()


def note_position(transition: Transition, message: PlaybackPaused | PlaybackResumed) -> None:
    """stores how far the answer is known to have been heard"""
    answer, cut = transition.next.answer, transition.next.cut
    if answer is not None and answer.turn == message.turn:
        sounding = isinstance(message, PlaybackResumed)
        transition.change(answer=answer.at(message.position, transition.now_s, sounding=sounding))
        transition.extend_deadline()
    elif cut is not None and cut.answer.turn == message.turn:
        transition.change(cut=cut.set_position(message.position, transition.now_s))


def finish_answer(transition: Transition, finished: PlaybackFinished) -> None:
    """remembers the answer, which was heard to its end, and returns to rest"""
    answer, cut = transition.next.answer, transition.next.cut
    if cut is not None and cut.answer.turn == finished.turn:
        finish_cut_answer(
            transition, PlaybackStopped(finished.turn, finished.position, finished.index)
        )
    elif answer is not None and answer.turn == finished.turn:
        if answer.thinking:
            transition.abandon_thinking()
        if answer.ours:
            spoken = tuple(line.text for line in answer.lines)
            transition.change(ringing=transition.next.ringing.finish(spoken))
        _conclude(transition, answer.heard_text(), complete=answer.sounded, reason="finished")


def finish_cut_answer(transition: Transition, stopped: PlaybackStopped) -> None:
    """remembers the heard part of a cut answer, and sends a Think that waited for it"""
    answer, cut = transition.next.answer, transition.next.cut
    if answer is not None and answer.turn == stopped.turn:  # not requested: the card is gone
        transition.drop_answer()
        transition.settle_cut(stopped.position)
        transition.release_hold()
        transition.enter_rest("playback stopped")
    elif cut is not None and cut.answer.turn == stopped.turn:
        transition.settle_cut(stopped.position)
        if answer is not None and not (answer.ours or answer.asked):
            transition.send_think()


def _conclude(transition: Transition, heard: str, *, complete: bool, reason: str) -> None:
    """End the answer, of which `heard` was heard. If nothing was heard of it, the box announces
    that its voice failed; otherwise no wake word is needed for a while."""
    answer = transition.next.answer
    assert answer is not None
    transition.record_heard(answer, heard, complete=complete)
    if not heard and any(not line.ours for line in answer.lines):
        transition.change(queue=transition.next.queue.add_first(Say(transition.say("lost-voice"))))
    if heard:
        listening, policy = transition.next.listening, transition.next.policy
        transition.change(listening=listening.spare_wake_word(transition.now_s, policy))
    transition.enter_rest(reason)


def thinking_timeout(transition: Transition) -> None:
    """sends a Think that waited; without a sentence apologises; without sound returns to rest"""
    answer = transition.next.answer
    assert answer is not None
    if not answer.asked:
        transition.send_think()
    elif not answer.lines:
        transition.apologise(transition.say("lost-thread"))
    else:
        playback_timeout(transition)


def playback_timeout(transition: Transition) -> None:
    """ends an answer whose sound did not end in time, and remembers its heard part"""
    answer = transition.next.answer
    assert answer is not None
    transition.abandon_thinking()
    transition.raise_turn()
    transition.release_hold()
    heard = answer.heard_text(answer.position_at(transition.now_s))
    _conclude(transition, heard, complete=False, reason="the sound did not come to its end")
