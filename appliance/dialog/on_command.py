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
    """ends the answer, the question and everything in the queue"""
    transition.stop_all("stopped")
    transition.acknowledge_press()


def mute_microphone(transition: Transition, command: Mute) -> None:
    """mutes the microphone and stops everything, or unmutes it and returns to rest"""
    transition.actions.append(SetMuted(command.on))
    _set_microphone(transition, muted=command.on, off=transition.next.listening.switched_off)
    transition.acknowledge_press()


def apply_switch(transition: Transition, switched: MuteSwitched) -> None:
    """follows the switch: a cut microphone stops everything; a closed switch does not unmute"""
    _set_microphone(transition, muted=transition.next.listening.muted, off=switched.off)


def _set_microphone(transition: Transition, *, muted: bool, off: bool) -> None:
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
    """queues the request, which starts as soon as nothing else sounds"""
    wordless = not isinstance(command, Repeat) and not command.text.strip()
    if wordless and not (isinstance(command, Say) and command.chime):  # a chime needs no text
        return
    queue = transition.next.queue
    transition.change(queue=queue.add(command))
    if not queue.full:
        transition.start_queued()
    elif not queue.refused:
        transition.log(f"{MOST_WAITING} requests are queued already; further ones are refused")


def interrupt_with_question(transition: Transition, command: Ask) -> None:
    """drops the answer and asks the typed question"""
    if command.text.strip():
        transition.ask_thinker(Question(command.text, at_s=transition.now_s, opening="typed"))


def forget_conversation(transition: Transition, command: Forget) -> None:
    """drops the answer unremembered; thinker and memory erase all turns, or only the last one"""
    _drop_and_erase(transition, command, EraseMemory(command.last, command.aloud))


def forget_chosen_turn(transition: Transition, command: ForgetTurn) -> None:
    """drops the answer and erases one turn on disk; the thinker requests the turns that remain"""
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


def report_forgotten(transition: Transition, result: Forgotten) -> None:
    """announces success of erasing on request, failure or late success always; before the queue"""
    if result.problem:
        key = "forget-failed"
    elif result.late:
        key = "forgotten-late"
    elif result.aloud:
        key = "forgotten-last" if result.last else "forgotten-all"
    else:
        return
    transition.change(queue=transition.next.queue.add_first(Say(transition.say(key))))
    transition.start_queued()


def pass_volume(transition: Transition, command: SetVolume) -> None:
    """forwards the volume to playback, now and after each restart of playback"""
    transition.change(volume=command.volume)
    transition.send("playback", command)
