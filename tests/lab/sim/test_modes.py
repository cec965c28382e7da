"""Listening modes through the real processes: toggle presses, mute and the wake word.

Input is checked in the rings, output on the loudspeaker's track."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from appliance.messages.commands import Mute, SetMode, StateChanged, StopSpeaking, TalkButton
from appliance.messages.hearing import Onset, SpeechEnded, SpeechStarted, Verdict, WakeWordHeard
from appliance.messages.playback import PlaybackPaused, PlaybackStopped
from appliance.pcm import AUDIBLE, RATE_HZ
from appliance.runtime.ipc.ring import RingReader
from lab.bench.harness import LEAD, WITHOUT_THINKER, BenchHarness
from lab.sim.rehearsal import WATCHER
from lab.sim.rehearsal_cli import load_over
from lab.sim.scene import Room, Scene, ScriptedUtterance
from lab.sim.script_sounds import make
from lab.sim.speech_source import SPEECH_DB, OwnerSound
from tests.english import ESPEAK

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]

ECHO = Room(noise="white", noise_db=-70.0, echo_db=SPEECH_DB - 6, rt60_s=0.4, seed=1002)
PATIENCE_S = 20.0  # for events that take one second on an idle machine
HELLO = "hello there little box"
WAKE = "okay nahboo"  # spelling that makes espeak-ng pronounce it right


def spoken(text: str) -> OwnerSound:
    return make(Scene(name="test"), ScriptedUtterance(say=text, speed=150))


def on_stage(act: Any, mode: str, **hearing: Any) -> None:
    changed = load_over(ESPEAK, {"mode": mode, "hearing": hearing})
    BenchHarness(ECHO, changed, act, parts=(*WITHOUT_THINKER, "words")).play()


def say_and_wait(stage: BenchHarness, text: str) -> int:
    """Say `text` now, and wait until it has been heard. Returns the card index of its onset."""
    sound = spoken(text)
    at = stage.add_sound(stage.card.now() + LEAD, sound)
    stage.wait_until(lambda: stage.card.now() > at + sound.end + RATE_HZ // 2, PATIENCE_S)
    return at


def wait_for(stage: BenchHarness, kind: type[Any], since: int) -> Any:
    assert stage.wait_until(lambda: any(stage.messages_since(kind, since)), PATIENCE_S), (
        kind.__name__
    )
    return list(stage.messages_since(kind, since))[-1]


def wait_for_state(stage: BenchHarness, state: str) -> None:
    assert stage.wait_until(
        lambda: stage.state is not None and stage.state.state == state, PATIENCE_S
    )


def is_audible(stage: BenchHarness, since: int) -> bool:
    """Whether the loudspeaker is audible in the 0.3 s after card index `since`."""
    frames = 3 * RATE_HZ // 10
    stage.wait_until(lambda: stage.card.now() > since + frames, PATIENCE_S)
    return bool(np.any(np.abs(stage.card.loudspeaker(since, frames).astype(np.int32)) > AUDIBLE))


def wait_for_silence(stage: BenchHarness, since: int) -> None:
    """Playback stops, and nothing is audible after the sample that it reports as the last."""
    stopped = wait_for(stage, PlaybackStopped, since)
    assert not is_audible(stage, stage.index(stopped.index))


def press_button(stage: BenchHarness) -> None:
    """Press and release the button as the panel does: first the floor's word, then the messages."""
    stage.supervisor.floor().press += 1
    stage.send(TalkButton(pressed=True))
    stage.send(TalkButton(pressed=False))


def test_toggle_presses_mute_and_wake_word_work_over_an_answer() -> None:
    def act(stage: BenchHarness) -> None:
        _a_press_begins_a_turn_and_the_next_one_ends_it(stage)
        _while_muted_speech_is_not_heard_and_the_button_stops_the_answer(stage)
        stage.send(SetMode("wake_word"))
        _the_wake_word_interrupts_and_other_speech_does_not(stage)

    on_stage(act, "push_to_talk", push_to_talk={"press": "toggle"}, wake={"barge_in": False})


def test_in_wake_word_mode_speech_interrupts_an_answer_but_does_not_begin_a_turn() -> None:
    def act(stage: BenchHarness) -> None:
        at = stage.card.now()
        say_and_wait(stage, HELLO)
        assert not list(stage.messages_since(Onset, at))
        stage.wait(2.5)  # continuous speech may count as a television (hear/onset/background.py)
        stage.start_talking()
        at = stage.card.now()
        say_and_wait(stage, "wait, tell me about the moon instead")
        wait_for_silence(stage, at)
        assert wait_for(stage, SpeechEnded, at).frames > RATE_HZ // 2

    on_stage(act, "wake_word")


def _a_press_begins_a_turn_and_the_next_one_ends_it(stage: BenchHarness) -> None:
    stage.start_talking()
    at = stage.card.now()
    press_button(stage)
    wait_for_silence(stage, at)
    wait_for_state(stage, "listening")
    say_and_wait(stage, HELLO)
    stage.wait(0.7)  # a silence that ends a turn in every other mode
    assert not [m for m in stage.messages_since(SpeechEnded, at) if m.last]
    assert stage.state is not None
    assert stage.state.state == "listening"
    press_button(stage)
    ended = wait_for(stage, SpeechEnded, at)
    assert ended.last
    assert ended.frames > RATE_HZ // 2
    wait_for_state(stage, "speaking")  # it answers the turn by saying that it has no thinker


def _while_muted_speech_is_not_heard_and_the_button_stops_the_answer(stage: BenchHarness) -> None:
    stage.send(SetMode("open"))
    stage.send(StopSpeaking())
    wait_for_state(stage, "idle")
    stage.send(Mute(on=True))
    wait_for_state(stage, "muted")
    at = stage.card.now()
    heard = RingReader(stage.supervisor.rings["heard"], WATCHER)
    near = RingReader(stage.supervisor.rings["near"], WATCHER)
    for ring in (heard, near):
        list(ring.read_all())  # skip earlier slots
    say_and_wait(stage, HELLO)
    stage.start_talking()  # an announcement
    say_and_wait(stage, "wait stop that")
    assert is_audible(stage, stage.card.now())
    for kind in (Onset, Verdict, SpeechStarted, PlaybackPaused, WakeWordHeard):
        assert not list(stage.messages_since(kind, at)), kind.__name__
    # On a busy machine earlier sound may arrive in the rings after the state has changed.
    assert not [slot for slot in heard.read_all() if stage.index(slot.index) >= at]
    while_muted = [slot for slot in near.read_all() if stage.index(slot.index) >= at]
    assert while_muted
    assert not any(slot.samples.any() for slot in while_muted)
    pressed = stage.card.now()
    press_button(stage)
    wait_for_silence(stage, pressed)
    wait_for_state(stage, "muted")  # the light shows this state, too
    assert "listening" not in [m.state for m in stage.messages_since(StateChanged, at)]
    stage.send(Mute(on=False))
    wait_for_state(stage, "idle")
    since = stage.card.now()
    say_and_wait(stage, HELLO)
    wait_for(stage, SpeechEnded, since)
    since = stage.card.now()
    stage.start_talking()
    stage.wait(2.0)  # the canceller has kept its echo path
    assert "interruption" not in [m.kind for m in stage.messages_since(Verdict, since)]


def _the_wake_word_interrupts_and_other_speech_does_not(stage: BenchHarness) -> None:
    stage.start_talking()
    at = stage.card.now()
    say_and_wait(stage, HELLO)
    assert is_audible(stage, stage.card.now())
    assert not list(stage.messages_since(Onset, at))
    say_and_wait(stage, WAKE)
    wait_for(stage, WakeWordHeard, at)
    wait_for_silence(stage, at)
    wait_for_state(stage, "listening")
    since = stage.card.now()
    say_and_wait(stage, HELLO)
    assert wait_for(stage, SpeechEnded, since).frames > RATE_HZ // 2
    wait_for_state(stage, "speaking")
