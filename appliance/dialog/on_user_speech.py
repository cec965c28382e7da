"""Handlers of the listener's messages: onsets, verdicts and utterances of the owner."""

from __future__ import annotations

from appliance.dialog.answer import FRAMES_A_CHARACTER, Question
from appliance.dialog.owner_speech import OwnerSpeech
from appliance.dialog.transition import Transition
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict
from appliance.messages.playback import RewindAnswer
from appliance.sound_format import RATE_HZ

AROUND_FRAMES = RATE_HZ * 6 // 10  # of an utterance beside its words: pre-roll, silence after it
SLOWEST = 1.2  # factor: words are assumed to take at most so much longer than FRAMES_A_CHARACTER


def hold_output(transition: Transition, onset: Onset) -> None:
    """holds playback: nothing may start to sound until the verdict"""
    until_s = transition.now_s + transition.next.policy.verdict_s
    transition.change(hold=transition.next.hold.start(onset.serial, onset.index, until_s))
    if transition.next.listening.microphone_off:
        transition.release_hold()  # it was sent before the microphone went off


def pause_answer(transition: Transition, onset: Onset) -> None:
    """enters holding until the verdict; the listener has already paused playback"""
    was_speaking = transition.next.state == "speaking"
    hold_output(transition, onset)
    if transition.next.hold.open:
        if was_speaking:
            transition.change(
                hold=transition.next.hold.mark_rapid(transition.now_s, transition.next.policy)
            )
        transition.enter_state("holding", "the owner makes a sound")


def apply_verdict(transition: Transition, verdict: Verdict) -> None:
    """noise or a backchannel: releases the hold; interruption: waits for words"""
    if verdict.serial == transition.next.speech.stop_serial and verdict.kind != "interruption":
        transition.stop_all("told to stop")  # no utterance will follow
    elif verdict.serial != transition.next.hold.serial or not transition.next.hold.open:
        return
    elif verdict.kind == "interruption":
        transition.hold_for(transition.next.policy.speech_s)
    else:
        resume(transition, verdict.kind)


def apply_verdict_to_answer(transition: Transition, verdict: Verdict) -> None:
    """noise or a backchannel: resumes the answer, after the debounce if it is needed; interruption:
    keeps it silent until what was said is known to be a turn, then drops it, or repeats its last
    sentence if that is what was asked for"""
    hold = transition.next.hold
    if verdict.serial != hold.serial or transition.next.listening.microphone_off:
        return
    if verdict.kind != "interruption":
        asked = transition.next.speech.asks_to_repeat(verdict.serial)
        if hold.open and asked and verdict.kind == "backchannel":
            _repeat_sentence(transition)
        elif hold.yielding:  # taken back
            transition.change(speech=transition.next.speech.drop())
            resume(transition, verdict.kind)
        elif hold.open:
            _resume_after_debounce(transition, verdict.kind)
    elif hold.open and transition.next.state == "holding":
        keep_answer(transition)
    else:  # a late one, after playback has resumed
        give_way(transition)


def keep_answer(transition: Transition) -> None:
    """Keep the answer silent until what was said is known to be a turn; to the end of what was said
    if its words ask for the last sentence."""
    dialog = transition.next
    repeats = dialog.speech.asks_to_repeat(dialog.hold.serial)
    for_s = dialog.policy.speech_s if repeats else dialog.policy.yield_s
    transition.change(hold=dialog.hold.give_way(transition.now_s + for_s))


def _only_asks_to_repeat(owner: OwnerSpeech, speech: SpeechEnded) -> bool:
    """Whether an utterance asks for the last sentence and is no longer than its words. A recogniser
    that knows only single phrases finds "sorry" in "sorry, that is wrong", too."""
    longest = AROUND_FRAMES + SLOWEST * FRAMES_A_CHARACTER * len(owner.words)
    return owner.asks_to_repeat(speech.utterance) and speech.frames <= longest


def _repeat_sentence(transition: Transition) -> None:
    """Resume the answer at the start of the last sentence that was heard. What was said is no turn.
    If the message is lost, the answer resumes where it stopped."""
    answer, now_s = transition.next.answer, transition.now_s
    assert answer is not None
    transition.send("playback", RewindAnswer(answer.turn, answer.last_sentence(now_s)))
    until_s = now_s + transition.next.policy.rewind_s
    transition.change(
        hold=transition.next.hold.debounce("repeat", until_s),
        speech=transition.next.speech.drop(),
    )


def give_way(transition: Transition) -> None:
    """Drop the answer, and listen to what was said over it."""
    speech, index = transition.next.speech, transition.next.hold.onset_index
    transition.count_taken_back(index)
    transition.drop_answer(unheard=transition.still_asking(index))
    transition.release_hold()
    transition.enter_state("listening", "interrupted", transition.next.policy.speech_s)
    if speech.utterance is not None:
        _listen(transition, speech.utterance, speech.began)


def _resume_after_debounce(transition: Transition, reason: str) -> None:
    """Resume the answer, but after a quiet time if it was paused again soon after it resumed."""
    hold, policy = transition.next.hold, transition.next.policy
    if hold.needs_debounce(transition.now_s, policy):
        transition.change(hold=hold.debounce(reason, transition.now_s + policy.resume_debounce_s))
    else:
        resume(transition, reason)


def resume(transition: Transition, reason: str) -> None:
    """Release the hold and leave the state `holding`."""
    transition.release_hold()
    if transition.next.state == "holding":
        transition.change(hold=transition.next.hold.resume(transition.now_s))
        transition.enter_state("speaking", reason)
        transition.extend_deadline()
    transition.start_queued()


def start_listening(transition: Transition, speech: SpeechStarted) -> None:
    """listens to the owner, and drops an answer that is being generated or spoken, unless it is
    kept for now"""
    if not transition.next.listening.microphone_off:
        begun = speech.utterance, speech.index, transition.next.listening.opening
        transition.change(speech=transition.next.speech.begin(*begun))
        if not keeps_answer(transition, speech.utterance):
            _listen(transition, speech.utterance, speech.index)


def keeps_answer(transition: Transition, utterance: int) -> bool:
    """Whether `utterance` may still turn out to be nothing to which the answer should give way."""
    hold = transition.next.hold
    return transition.next.state == "holding" and hold.yielding and utterance == hold.serial


def end_speech(transition: Transition, speech: SpeechEnded) -> None:
    """a piece: keeps listening; the last one: asks the thinker, unless "stop" is all it says, or it
    asks for the last sentence of an answer that is kept"""
    owner = transition.next.speech
    if transition.next.listening.microphone_off or speech.utterance == owner.dropped:
        return
    if keeps_answer(transition, speech.utterance):
        if speech.last and _only_asks_to_repeat(owner, speech):
            _repeat_sentence(transition)
            return
        give_way(transition)
        owner = transition.next.speech
    if not speech.last:
        _listen(transition, speech.utterance)
        return
    seconds = speech.frames / RATE_HZ
    if seconds > transition.next.policy.stop_s:
        transition.change(speech=owner.note_long(speech.utterance))
    elif speech.utterance == owner.stop_serial:
        transition.stop_all("told to stop")
        return
    if speech.frames > 0:
        if transition.next.ringing.heard:  # earlier, speech may be the ring's echo
            transition.stop_ringing()
        opening = owner.opening if owner.utterance == speech.utterance else ""
        question = Question("", seconds, (speech.utterance,), transition.now_s, opening)
        transition.ask_thinker(question)
    elif transition.next.state == "listening":
        _end_without_question(transition, "nothing was said")


def _listen(transition: Transition, utterance: int, index: int = 0) -> None:
    transition.count_taken_back(index)
    transition.drop_answer(unheard=transition.still_asking(index))
    transition.change(speech=transition.next.speech.listen(utterance))
    for_s, listening = transition.next.policy.listening_s, transition.next.listening
    if listening.button_down:  # the owner may pause while it is down
        for_s = max(for_s, listening.button_until_s - transition.now_s)
    transition.enter_state("listening", "the owner speaks", for_s)
    if transition.next.hold.open:
        transition.hold_for(for_s)


def _end_without_question(transition: Transition, reason: str) -> None:
    transition.settle_cut()
    transition.forget_unanswered()
    transition.change(speech=transition.next.speech.drop().clear_stop())
    transition.release_hold()
    transition.enter_rest(reason)


def listening_timeout(transition: Transition) -> None:
    """returns to rest if no more speech has come"""
    _end_without_question(transition, "nothing more came")
