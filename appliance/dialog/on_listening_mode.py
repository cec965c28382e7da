"""Handlers of listening modes, the talk button, the wake word and recognised words."""

from __future__ import annotations

from appliance.dialog.transition import Transition
from appliance.messages.commands import ListenOnce, SetMode, TalkButton
from appliance.messages.hearing import WakeWordHeard, WordsHeard


def talk_button(step: Transition, button: TalkButton) -> None:
    """what sounds ends, and the box listens; in mode push_to_talk until the button comes up"""
    policy, listening = step.next.policy, step.next.listening
    if listening.mode != "push_to_talk" or listening.microphone_off:
        if button.pressed:
            _open(step, "the button", policy.open_s)
    elif button.pressed and not (policy.toggle and listening.button_down):
        _open(step, "the button", policy.button_s)
        until_s = step.now_s + policy.button_s
        step.change(listening=step.next.listening.hold_button(until_s))
    elif button.pressed or not policy.toggle:
        end_talk(step)
    step.acknowledge_press()


def acknowledge_press(step: Transition, button: TalkButton) -> None:
    """ends a ringing, else nothing; the press is let go all the same"""
    step.stop_ringing()
    step.acknowledge_press()


def open_for_one_turn(step: Transition, wish: ListenOnce) -> None:
    """what sounds ends, and the box listens for one turn"""
    _open(step, "asked to listen", step.next.policy.open_s)


def wake_word(step: Transition, word: WakeWordHeard) -> None:
    """in mode wake_word: what sounds ends, and the box listens for one turn"""
    if step.next.listening.mode != "wake_word" or step.next.speech.utterance is not None:
        return
    _open(step, "the wake word", step.next.policy.open_s)
    step.change(listening=step.next.listening.wake(word.index))


def _open(step: Transition, reason: str, for_s: float) -> None:
    """The floor is the owner's, who has it already if they speak. A microphone that is off stays
    off: then what sounds ends, and that is all."""
    step.stop_ringing()
    if step.next.listening.microphone_off:
        step.stop_all(reason)
        return
    if step.next.state == "listening" and step.next.speech.utterance is not None:
        return
    step.drop_answer()
    step.release_hold()
    step.change(listening=step.next.listening.open_for_turn())
    step.enter_state("listening", reason, for_s)


def end_talk(step: Transition) -> None:
    """The talk button came up, or is taken for stuck: the listener ends what was said so far."""
    if step.next.listening.button_down:
        step.change(listening=step.next.listening.release_button())
        if step.next.state == "listening":
            step.enter_state("listening", "the button came up", step.next.policy.ended_s)


def set_mode(step: Transition, wish: SetMode) -> None:
    """from now on speech is accepted in that listening mode"""
    end_talk(step)
    step.change(listening=step.next.listening.set_mode(wish.mode))


def note_words(step: Transition, words: WordsHeard) -> None:
    """passed on to the listener; a mere "stop" ends the answer and is no question"""
    step.send("listener", words)
    step.change(speech=step.next.speech.note_words(words.serial, words.text))
    to, speech = step.next, step.next.speech
    if words.kind != "stop":
        step.change(speech=speech.refute_stop(words.serial))
        return
    if words.serial == speech.long_utterance:
        return
    if to.answer is not None and words.serial in to.answer.question.utterances:
        step.stop_all("told to stop")  # it is being answered already
    elif words.serial in (to.hold.serial, speech.utterance):
        step.change(speech=speech.note_stop(words.serial))
        if to.state in ("speaking", "holding"):
            step.drop_answer(unwanted=True)
            step.release_hold()
            step.enter_state("listening", "told to stop", to.policy.speech_s)


def send_listening_mode(step: Transition) -> None:
    """If there is something new to it."""
    command, listening = step.next.listening_command, step.next.listening
    if command != listening.sent:
        step.change(listening=listening.mark_sent(command))
        step.send("listener", command)
