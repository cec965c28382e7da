"""Handlers of listening modes, the talk button, the wake word and recognised words."""

from __future__ import annotations

from appliance.dialog.on_user_speech import keep_answer, keeps_answer
from appliance.dialog.transition import Transition
from appliance.messages.commands import ListenOnce, Opening, SetMode, TalkButton
from appliance.messages.hearing import WakeWordHeard, WordsHeard


def talk_button(transition: Transition, button: TalkButton) -> None:
    """ends what sounds and listens; in mode push_to_talk until the button is released"""
    policy, listening = transition.next.policy, transition.next.listening
    if listening.mode != "push_to_talk" or listening.microphone_off:
        if button.pressed:
            _open(transition, "the button", policy.open_s)
    elif button.pressed and not (policy.toggle and listening.button_down):
        _open(transition, "the button", policy.button_s)
        until_s = transition.now_s + policy.button_s
        transition.change(listening=transition.next.listening.hold_button(until_s))
    elif button.pressed or not policy.toggle:
        end_talk(transition)
    transition.acknowledge_press()


def acknowledge_press(transition: Transition, button: TalkButton) -> None:
    """stops what rings and acknowledges the press"""
    transition.stop_ringing()
    transition.acknowledge_press()


def open_for_one_turn(transition: Transition, command: ListenOnce) -> None:
    """ends what sounds and listens for one turn"""
    _open(transition, "asked to listen", transition.next.policy.open_s)


def wake_word(transition: Transition, word: WakeWordHeard) -> None:
    """in mode wake_word: ends what sounds and listens for one turn; at the beginning of speech that
    was accepted without it, it counts for that speech"""
    dialog = transition.next
    if dialog.listening.mode != "wake_word":
        return
    if dialog.speech.utterance is not None:
        transition.change(speech=dialog.speech.note_wake_word(word.index))
        return
    _open(transition, "the wake word", dialog.policy.open_s, "wake_word")
    transition.change(listening=transition.next.listening.wake(word.index))


def _open(transition: Transition, reason: str, for_s: float, opening: Opening = "hand") -> None:
    """End what sounds and listen for `for_s`; no effect if the owner already speaks. A microphone
    that is off stays off: then only the sound ends."""
    transition.stop_ringing()
    if transition.next.listening.microphone_off:
        transition.stop_all(reason)
        return
    if transition.next.state == "listening" and transition.next.speech.utterance is not None:
        return
    transition.drop_answer()
    transition.release_hold()
    transition.change(listening=transition.next.listening.open_for_turn(opening))
    transition.enter_state("listening", reason, for_s)


def end_talk(transition: Transition) -> None:
    """The talk button was released, or counts as stuck: the listener ends the utterance."""
    if transition.next.listening.button_down:
        transition.change(listening=transition.next.listening.release_button())
        if transition.next.state == "listening":
            transition.enter_state(
                "listening", "the button came up", transition.next.policy.ended_s
            )


def set_mode(transition: Transition, command: SetMode) -> None:
    """changes the listening mode"""
    end_talk(transition)
    transition.change(listening=transition.next.listening.set_mode(command.mode))


def note_words(transition: Transition, words: WordsHeard) -> None:
    """forwards the words to the listener; a mere "stop" ends the answer and is no question; a mere
    "pardon?" keeps an answer that has given way until its last sentence is repeated"""
    transition.send("listener", words)
    repeated = transition.next.speech.asks_to_repeat(words.serial)
    heard = words.serial, words.text, words.kind
    transition.change(speech=transition.next.speech.note_words(*heard))
    dialog, speech = transition.next, transition.next.speech
    if words.kind != "stop":
        transition.change(speech=speech.refute_stop(words.serial))
        if (words.kind == "repeat") != repeated and keeps_answer(transition, words.serial):
            keep_answer(transition)
        return
    if words.serial == speech.long_utterance:
        return
    if dialog.answer is not None and words.serial in dialog.answer.question.utterances:
        transition.stop_all("told to stop")  # it is being answered already
    elif words.serial in (dialog.hold.serial, speech.utterance):
        transition.change(speech=speech.note_stop(words.serial))
        if dialog.state in ("speaking", "holding"):
            transition.drop_answer(unwanted=True)
            transition.release_hold()
            transition.enter_state("listening", "told to stop", dialog.policy.speech_s)


def send_listening_mode(transition: Transition) -> None:
    """Send the listening mode to the listener, if it has changed."""
    dialog = transition.next
    command, listening = dialog.listening_command(transition.now_s), dialog.listening
    if command != listening.sent:
        transition.change(listening=listening.mark_sent(command))
        transition.send("listener", command)
