"""Handlers of commands from panel, link, command line and the lab."""

from __future__ import annotations

from appliance.dialog.actions import EraseMemory, SetMuted
from appliance.dialog.answer import Question
from appliance.dialog.request_queue import MOST_WAITING
from appliance.dialog.transition import Transition
from appliance.messages.commands import (
    Ask,
    Forget,
    ForgetTurn,
    Forgotten,
    Mute,
    MuteSwitched,
    Repeat,
    Say,
    SetVolume,
    StopSpeaking,
)


def stop_all(transition: Transition, command: StopSpeaking) -> None:
    """end the answer, the question and all that waits"""
    transition.stop_all("stopped")
    transition.acknowledge_press()


def mute_microphone(transition: Transition, command: Mute) -> None:
    """microphone off: stop everything; on: at rest again"""
    transition.actions.append(SetMuted(command.on))
    _hear_or_not(transition, muted=command.on, off=transition.next.listening.switched_off)
    transition.acknowledge_press()


def apply_switch(transition: Transition, switched: MuteSwitched) -> None:
    """cuts the microphone: stop everything; closed again: as before, so a muted box stays muted"""
    _hear_or_not(transition, muted=transition.next.listening.muted, off=switched.off)


def _hear_or_not(transition: Transition, *, muted: bool, off: bool) -> None:
    was_off = transition.next.listening.microphone_off
    transition.change(
        listening=transition.next.listening.set_microphone(muted=muted, switched_off=off)
    )
    is_off = transition.next.listening.microphone_off
    if is_off and not was_off:
        transition.stop_all("microphone off")
    elif was_off and not is_off and transition.next.state == "muted":
        transition.enter_rest("microphone on")


def queue_request(transition: Transition, command: Say | Ask | Repeat) -> None:
    """said or asked as soon as nothing else sounds"""
    wordless = not isinstance(command, Repeat) and not command.text.strip()
    if wordless and not (isinstance(command, Say) and command.chime):  # a chime says enough
        return
    queue = transition.next.queue
    transition.change(queue=queue.add(command))
    if not queue.full:
        transition.start_queued()
    elif not queue.refused:
        transition.log(f"{MOST_WAITING} things wait to be said already; more is refused")


def interrupt_with_question(transition: Transition, command: Ask) -> None:
    """the typed question interrupts"""
    if command.text.strip():
        transition.ask_thinker(Question(command.text, at_s=transition.now_s, chosen=True))


def forget_conversation(transition: Transition, command: Forget) -> None:
    """the answer is dropped unremembered; the thinker and the disk forget"""
    _drop_and_erase(transition, command, EraseMemory(command.last, command.aloud))


def forget_chosen_turn(transition: Transition, command: ForgetTurn) -> None:
    """likewise, of the disk that turn alone; the thinker asks for what is left"""
    _drop_and_erase(transition, command, EraseMemory(chosen=(command.started, command.turn)))


def _drop_and_erase(
    transition: Transition, command: Forget | ForgetTurn, erase: EraseMemory
) -> None:
    answer = transition.next.answer
    if answer is not None:
        transition.abandon_thinking()
        transition.raise_turn()
    transition.change(answer=None, cut=None, unanswered=None, last_lines=())
    transition.send("thinker", Forget(command.last) if isinstance(command, Forget) else command)
    transition.actions.append(erase)
    if answer is not None:
        transition.release_hold()
        transition.enter_rest("forgotten")


def report_forgotten(transition: Transition, told: Forgotten) -> None:
    """said before all that waits: that it is so, if that was wanted; that it failed, always"""
    if told.problem:
        key = "forget-failed"
    elif told.late:
        key = "forgotten-late"
    elif told.aloud:
        key = "forgotten-last" if told.last else "forgotten-all"
    else:
        return
    transition.change(queue=transition.next.queue.add_first(Say(transition.say(key))))
    transition.start_queued()


def pass_volume(transition: Transition, command: SetVolume) -> None:
    """passed on to playback, now and whenever it comes up anew"""
    transition.change(volume=command.volume)
    transition.send("playback", command)
