"""The box on the simulated card with a keyboard panel: the mute switch is opened in the middle of a
sentence."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from appliance import settings
from appliance.messages.hearing import SpeechEnded, SpeechStarted
from appliance.messages.thinking import Think
from appliance.panel.keyboard_socket import NAME
from appliance.pcm import RATE_HZ, Samples
from appliance.runtime.ipc.ring import RingReader
from lab.bench.harness import QUIET, BenchHarness
from lab.bench.panel import ButtonPresser
from lab.sim import scene, script_sounds

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]

PARTS = ("conductor", "playback", "capture", "listener", "panel")
WORDS = "tell me how the tides of the sea follow the moon and why there are two of them each day"
SURE_S = 20.0  # limit on a busy machine


def test_opening_the_switch_mid_sentence_stops_all_samples_to_the_listener() -> None:
    owner = scene.parse({"owner": [{"at_s": 0.0, "say": WORDS}]}, name="owner", folder=Path())
    words = script_sounds.make(owner, owner.owner[0]).samples
    panel = {"panel": {"gpio": "keyboard", "mute_switch": True}, "speaking": {"chime": False}}
    chosen = settings.load(None, panel)
    heard: list[tuple[int, Samples]] = []  # with the card's index
    cut = end = 0

    def act(stage: BenchHarness) -> None:
        nonlocal cut, end
        floor = stage.supervisor.floor()
        finger = ButtonPresser(stage.state_dir / NAME)
        finger.push("on")
        assert stage.wait_until(lambda: not floor.microphone_off, SURE_S)
        stage.wait(1.0)  # the listener learns the noise floor
        at = stage.card.now() + RATE_HZ // 5
        end = at + len(words)
        stage.card.add_sound(at, words)
        assert stage.wait_until(lambda: any(stage.recording.messages_of(SpeechStarted)), SURE_S)
        mic = RingReader(stage.supervisor.rings["mic"], "room")

        def listen() -> None:
            heard.extend((stage.index(slot.index), slot.samples) for slot in iter(mic.read, None))

        stage.wait(0.3)
        listen()
        finger.push("off")
        while not floor.microphone_off:
            time.sleep(0.001)
        cut = stage.card.index_of(time.monotonic_ns())
        while stage.card.now() < end + RATE_HZ // 5:
            stage.advance()
            listen()
        assert stage.wait_until(lambda: finger.frames[-1][1] == "muted", SURE_S)
        finger.close()

    stage = BenchHarness(QUIET, chosen, act, parts=PARTS)
    recording = stage.play()
    before = [samples for index, samples in heard if index < cut - RATE_HZ // 10]
    after = [samples for index, samples in heard if index >= cut]
    assert end - cut > RATE_HZ // 2, "the owner continued speaking"
    assert np.abs(np.concatenate(before).astype(int)).max() > 500
    assert len(after) > 100
    assert not np.concatenate(after).any()
    assert not list(recording.messages_of(Think))
    # The listener ends the sentence there, within its precision.
    ends = [stage.index(said.index) - cut for _, said in recording.messages_of(SpeechEnded)]
    assert all(late < RATE_HZ // 4 for late in ends)
