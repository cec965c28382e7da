"""The whole box on the simulated card, without a model: a typed request sets a timer, which rings
at the loudspeaker until it is stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance import pcm
from appliance.cli.rows import rows_to_run
from appliance.messages.commands import Ask, StopSpeaking
from appliance.messages.playback import PlaybackStarted
from appliance.messages.speech import Speak
from appliance.pcm import Samples
from appliance.voice.chime import ring
from lab.sim import rehearsal_cli, scene
from lab.sim.rehearsal import Rehearsal
from tests.english import ESPEAK

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]

SILENT = 33  # of 32767: -60 dBFS


class Owner:
    """Types a request, waits until the timer rings, and presses stop."""

    def __init__(self) -> None:
        self.step = "ask"
        self.ring_at = 0

    def __call__(self, rehearsal: Rehearsal) -> None:
        recording = rehearsal.recording
        match self.step:
            case "ask" if rehearsal.state is not None:
                rehearsal.mail.send(Ask("Set a timer for one second."))
                self.step = "asked"
            case "asked":
                rings = [
                    message.turn for _, message in recording.messages_of(Speak) if message.ring
                ]
                started = {
                    message.turn: message.index
                    for _, message in recording.messages_of(PlaybackStarted)
                }
                if rings and rings[0] in started:
                    audible = rehearsal.index(started[rings[0]])
                    if rehearsal.card.now() > audible + pcm.RATE_HZ // 2:
                        self.ring_at = audible
                        rehearsal.mail.send(StopSpeaking())
                        self.step = "stopped"


def likeness(sound: Samples, heard: Samples) -> float:
    """The highest correlation of the sound's first 200 ms with any 200 ms of `heard`; 1: equal."""
    short = sound[: pcm.RATE_HZ // 5].astype(float)
    products = np.correlate(heard.astype(float), short)
    energies = np.convolve(np.square(heard.astype(float)), np.ones(len(short)), "valid")
    return float((products / np.sqrt(energies * np.sum(short**2) + 1)).max())


def test_a_timer_is_set_without_a_model_and_rings_until_it_is_stopped() -> None:
    owner = Owner()
    # One participant, who only breathes.
    script = {"owner": [{"at_s": 0.0, "noise": "breath", "level_db": -80}]}
    parsed = scene.parse(script, name="timer", folder=Path())
    rows = tuple(row for row in rows_to_run(ESPEAK) if row.name != "thinker")
    reader = rehearsal_cli.perform(parsed, ESPEAK, during=owner, rows=rows)
    recording = reader.recording
    assert not recording.given_up
    assert owner.step == "stopped"

    spoken = [message.text for _, message in recording.messages_of(Speak)]
    assert spoken[0] == "One second, from now."
    assert set(spoken[1:]) == {"Your timer is done: one second."}
    assert likeness(ring(), recording.loudspeaker[owner.ring_at - recording.first :]) > 0.9

    (stop,) = [index for index, _ in recording.messages_of(StopSpeaking)]
    assert all(index < stop for index, _ in recording.messages_of(Speak)), "it never rang again"
    loud = np.flatnonzero(np.abs(recording.loudspeaker.astype(int)) > 1000) + recording.first
    assert loud.min() < stop
    assert np.abs(recording.loudspeaker[-pcm.RATE_HZ :].astype(int)).max() <= SILENT
