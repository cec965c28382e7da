"""Handlers of listening modes, the talk button, the wake word and recognised words."""

from __future__ import annotations

from appliance.dialog.state import NEVER, DialogState
from appliance.dialog.transition import Transition
from appliance.messages.commands import ListenOnce, SetMode, TalkButton
from appliance.messages.hearing import SetListening, WakeWordHeard, WordsHeard


def talk_button(step: Transition, button: TalkButton) -> None:
    """what sounds ends, and the box listens; in mode push_to_talk until the button comes up"""
    rules = step.next.rules
    if step.next.mode != "push_to_talk" or step.next.deaf:
        if button.pressed:
            _open(step, "the button", rules.open_s)
    elif button.pressed and not (rules.toggle and step.next.button):
        _open(step, "the button", rules.button_s)
        step.change(button_until_s=step.now_s + rules.button_s)
    elif button.pressed or not rules.toggle:
        end_talk(step)
    step.acknowledge_press()


def acknowledge_press(step: Transition, button: TalkButton) -> None:
    """ends a ringing, else nothing; the press is let go all the same"""
    step.stop_ringing()
    step.acknowledge_press()


def open_for_one_turn(step: Transition, wish: ListenOnce) -> None:
    """what sounds ends, and the box listens for one turn"""
    _open(step, "asked to listen", step.next.rules.open_s)


def wake_word(step: Transition, word: WakeWordHeard) -> None:
    """in mode wake_word: what sounds ends, and the box listens for one turn"""
    if step.next.mode != "wake_word" or step.next.utterance is not None:
        return
    _open(step, "the wake word", step.next.rules.open_s)
    step.change(wake_index=word.index)


def _open(step: Transition, reason: str, for_s: float) -> None:
    """The floor is the owner's, who has it already if they speak. A microphone that is off stays
    off: then what sounds ends, and that is all."""
    step.stop_ringing()
    if step.next.deaf:
        step.stop_all(reason)
        return
    if step.next.state == "listening" and step.next.utterance is not None:
        return
    step.drop_answer()
    step.release_hold()
    step.change(open_until_s=NEVER, opened_for_turn=True)
    step.enter_state("listening", reason, for_s)


def end_talk(step: Transition) -> None:
    """The talk button came up, or is taken for stuck: the listener ends what was said so far."""
    if step.next.button:
        step.change(button_until_s=NEVER)
        if step.next.state == "listening":
            step.enter_state("listening", "the button came up", step.next.rules.ended_s)


def set_mode(step: Transition, wish: SetMode) -> None:
    """from now on speech is accepted in that listening mode"""
    end_talk(step)
    step.change(mode=wish.mode, open_until_s=NEVER)


def note_words(step: Transition, words: WordsHeard) -> None:
    """passed on to the listener; a mere "stop" ends the answer and is no question"""
    step.send("listener", words)
    step.change(understood=(words.serial, words.text))
    to = step.next
    if words.kind != "stop":
        if to.stop_word_serial == words.serial:
            step.change(stop_word_serial=0)  # there is more to it
        return
    if words.serial == to.long_utterance:
        return
    if to.answer is not None and words.serial in to.answer.question.utterances:
        step.stop_all("told to stop")  # it is being answered already
    elif words.serial in (to.hold, to.utterance):
        step.change(stop_word_serial=words.serial)
        if to.state in ("speaking", "holding"):
            step.drop_answer(unwanted=True)
            step.release_hold()
            step.enter_state("listening", "told to stop", to.rules.speech_s)


def listening_mode(to: DialogState) -> SetListening:
    """How the listener is to take what is said from now on."""
    if to.deaf:
        return SetListening(False, "the microphone is off", over_box=False)
    if to.mode == "open":
        return SetListening(True, "open")
    over_box = to.mode in to.rules.by_voice
    if to.state == "listening":
        return SetListening(True, "the floor is open", over_box, to.button, to.wake_index)
    if to.ringing:
        return SetListening(True, "something rings")
    if to.mode == "push_to_talk":
        return SetListening(False, "the button is up", over_box)
    if to.state in ("thinking", "speaking", "holding"):
        return SetListening(True, "a conversation", over_box)
    if to.open_until_s < NEVER:
        return SetListening(True, "an answer has just ended", over_box)
    return SetListening(False, "until the wake word", over_box)


def send_listening_mode(step: Transition) -> None:
    """If there is something new to it."""
    now = listening_mode(step.next)
    if now != step.next.listening_sent:
        step.change(listening_sent=now)
        step.send("listener", now)
