"""Who has the box's ear, through the real processes: two presses, a microphone that is off, and
the wake word. What was heard is read off the rings, what sounded off the loudspeaker's track."""

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
from tests.english import ENGLISH

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]

ECHO = Room(noise="white", noise_db=-70.0, echo_db=SPEECH_DB - 6, rt60_s=0.4, seed=1002)
PATIENCE_S = 20.0  # for what comes in one second on a machine with nothing else to do
HELLO = "hello there little box"
WAKE = "okay nahboo"  # as espeak-ng must be told to say it


def spoken(text: str) -> OwnerSound:
    return make(Scene(name="test"), ScriptedUtterance(say=text, speed=150))


def on_stage(act: Any, mode: str, **hearing: Any) -> None:
    changed = load_over(ENGLISH, {"mode": mode, "hearing": hearing})
    BenchHarness(ECHO, changed, act, parts=(*WITHOUT_THINKER, "words")).play()


def said(stage: BenchHarness, text: str) -> int:
    """Say it now, and wait until it has been heard. Returns the card's index of its onset."""
    sound = spoken(text)
    at = stage.add_sound(stage.card.now() + LEAD, sound)
    stage.wait_until(lambda: stage.card.now() > at + sound.end + RATE_HZ // 2, PATIENCE_S)
    return at


def comes(stage: BenchHarness, kind: type[Any], since: int) -> Any:
    assert stage.wait_until(lambda: any(stage.messages_since(kind, since)), PATIENCE_S), (
        kind.__name__
    )
    return list(stage.messages_since(kind, since))[-1]


def becomes(stage: BenchHarness, state: str) -> None:
    assert stage.wait_until(
        lambda: stage.state is not None and stage.state.state == state, PATIENCE_S
    )


def sounds(stage: BenchHarness, since: int) -> bool:
    """Whether the loudspeaker does, in 0.3 s from the card's index `since` on."""
    frames = 3 * RATE_HZ // 10
    stage.wait_until(lambda: stage.card.now() > since + frames, PATIENCE_S)
    return bool(np.any(np.abs(stage.card.loudspeaker(since, frames).astype(np.int32)) > AUDIBLE))


def falls_silent(stage: BenchHarness, since: int) -> None:
    """It stops, and no sample sounds after the one that it says was the last."""
    stopped = comes(stage, PlaybackStopped, since)
    assert not sounds(stage, stage.index(stopped.index))


def presses(stage: BenchHarness) -> None:
    """Down and up, as the panel does it: the floor's word first."""
    stage.supervisor.floor().press += 1
    stage.send(TalkButton(pressed=True))
    stage.send(TalkButton(pressed=False))


def test_the_button_pressed_twice_a_microphone_that_is_off_and_the_wake_word() -> None:
    def act(stage: BenchHarness) -> None:
        _a_press_begins_and_the_next_one_ends(stage)
        _muted_it_hears_nothing_and_the_button_ends_what_it_says(stage)
        stage.send(SetMode("wake_word"))
        _the_wake_word_interrupts_and_other_speech_does_not(stage)

    on_stage(act, "push_to_talk", push_to_talk={"press": "toggle"}, wake={"barge_in": False})


def test_in_wake_word_mode_speech_is_heard_over_an_answer_and_not_before() -> None:
    def act(stage: BenchHarness) -> None:
        at = stage.card.now()
        said(stage, HELLO)
        assert not list(stage.messages_since(Onset, at))
        stage.wait(2.5)  # who speaks on and on might be a television (hear/onset/background.py)
        stage.start_talking()
        at = stage.card.now()
        said(stage, "wait, tell me about the moon instead")
        falls_silent(stage, at)
        assert comes(stage, SpeechEnded, at).frames > RATE_HZ // 2

    on_stage(act, "wake_word")


def _a_press_begins_and_the_next_one_ends(stage: BenchHarness) -> None:
    stage.start_talking()
    at = stage.card.now()
    presses(stage)
    falls_silent(stage, at)
    becomes(stage, "listening")
    said(stage, HELLO)
    stage.wait(0.7)  # of silence, which would end a turn in any other mode
    assert not [m for m in stage.messages_since(SpeechEnded, at) if m.last]
    assert stage.state is not None
    assert stage.state.state == "listening"
    presses(stage)
    ended = comes(stage, SpeechEnded, at)
    assert ended.last
    assert ended.frames > RATE_HZ // 2
    becomes(stage, "speaking")  # it has a turn to answer, and says that it has no thinker


def _muted_it_hears_nothing_and_the_button_ends_what_it_says(stage: BenchHarness) -> None:
    stage.send(SetMode("open"))
    stage.send(StopSpeaking())
    becomes(stage, "idle")
    stage.send(Mute(on=True))
    becomes(stage, "muted")
    at = stage.card.now()
    heard = RingReader(stage.supervisor.rings["heard"], WATCHER)
    near = RingReader(stage.supervisor.rings["near"], WATCHER)
    for ring in (heard, near):
        list(ring.read_all())  # what there was before
    said(stage, HELLO)
    stage.start_talking()  # an announcement
    said(stage, "wait stop that")
    assert sounds(stage, stage.card.now())
    for kind in (Onset, Verdict, SpeechStarted, PlaybackPaused, WakeWordHeard):
        assert not list(stage.messages_since(kind, at)), kind.__name__
    # On a busy machine sound from before may arrive in the rings after the state has been told.
    assert not [slot for slot in heard.read_all() if slot.index >= at]
    assert not any(slot.samples.any() for slot in near.read_all() if slot.index >= at)
    pressed = stage.card.now()
    presses(stage)
    falls_silent(stage, pressed)
    becomes(stage, "muted")  # and so says the light
    assert "listening" not in [m.state for m in stage.messages_since(StateChanged, at)]
    stage.send(Mute(on=False))
    becomes(stage, "idle")
    since = stage.card.now()
    said(stage, HELLO)
    comes(stage, SpeechEnded, since)
    since = stage.card.now()
    stage.start_talking()
    stage.wait(2.0)  # it has not forgotten its own voice in this room
    assert "interruption" not in [m.kind for m in stage.messages_since(Verdict, since)]


def _the_wake_word_interrupts_and_other_speech_does_not(stage: BenchHarness) -> None:
    stage.start_talking()
    at = stage.card.now()
    said(stage, HELLO)
    assert sounds(stage, stage.card.now())
    assert not list(stage.messages_since(Onset, at))
    said(stage, WAKE)
    comes(stage, WakeWordHeard, at)
    falls_silent(stage, at)
    becomes(stage, "listening")
    since = stage.card.now()
    said(stage, HELLO)
    assert comes(stage, SpeechEnded, since).frames > RATE_HZ // 2
    becomes(stage, "speaking")
