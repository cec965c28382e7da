"""The panel's figures read from a track, and the mute switch in a whole box."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.messages.commands import MuteSwitched
from appliance.messages.hearing import SpeechStarted
from appliance.panel.keyboard_socket import NAME
from appliance.pcm import RATE_HZ
from appliance.runtime.ipc.ring import RingReader
from lab.bench.harness import LEAD, QUIET, WITHOUT_THINKER, BenchHarness
from lab.bench.panel import MS, ButtonPresser, light_ms, stop_ms
from lab.sim.rehearsal import WATCHER
from lab.sim.rehearsal_cli import load_over
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.script_sounds import make
from tests.english import ESPEAK

pytestmark = pytest.mark.process

PANEL = {"panel": {"gpio": "keyboard", "mute_switch": True}}


def test_a_stop_is_measured_to_the_last_audible_sample() -> None:
    track = np.full(330 * MS, 3000, np.int16)
    track[42 * MS :] = 0
    assert stop_ms(track, 30 * MS) == pytest.approx(12.0)


def test_a_stop_in_silence_has_no_time_and_continued_speech_an_infinite_one() -> None:
    assert stop_ms(np.zeros(330 * MS, np.int16), 30 * MS) is None
    assert stop_ms(np.full(330 * MS, 3000, np.int16), 30 * MS) == float("inf")


def test_the_light_time_is_from_the_state_change_to_its_first_frame() -> None:
    changes = [(0, "idle"), (10**9, "speaking")]
    frames = [(1_004_000_000, "idle"), (1_007_000_000, "speaking"), (1_050_000_000, "speaking")]
    assert light_ms(changes, frames) == [7.0]


@pytest.mark.usefixtures("simcard_library")
def test_the_mute_switch_silences_the_ring_in_the_middle_of_speech() -> None:
    """The owner speaks for seconds; after the switch is off, the ring `mic` contains only zeros."""

    def act(stage: BenchHarness) -> None:
        presser = ButtonPresser(stage.state_dir / NAME)
        presser.push("on")
        assert stage.wait_until(lambda: not stage.supervisor.floor().microphone_off, 20.0)
        stage.wait(0.5)
        scene = Scene(room=QUIET, name="test")
        text = "please tell me all that you know about the moon and the sea and the tides of it, "
        spoken = make(scene, ScriptedUtterance(say=3 * text, at_s=0.0, kind="request"))
        at = stage.card.now() + LEAD
        mic = RingReader(stage.supervisor.rings["mic"], WATCHER)
        stage.add_sound(at, spoken)
        assert stage.wait_until(lambda: any(stage.messages_since(SpeechStarted, at)), 8.0)
        while mic.read():
            pass
        stage.wait(0.1)
        heard_before = [slot.samples.copy() for slot in iter(mic.read, None)]
        assert any(np.abs(samples).max() > 300 for samples in heard_before)  # during the speech
        presser.push("off")
        assert stage.wait_until(lambda: stage.supervisor.floor().switched_off, 8.0)
        stage.wait(0.05)  # the period that capture was processing
        while mic.read():
            pass
        assert stage.card.now() < at + spoken.end - RATE_HZ // 2  # the owner still speaks
        stage.wait(0.4)
        later = [slot.samples.copy() for slot in iter(mic.read, None)]
        assert len(later) > 20
        assert not any(samples.any() for samples in later)
        assert any(isinstance(seen.message, MuteSwitched) for _, seen in stage.recording.mail)
        presser.close()

    changed = load_over(ESPEAK, PANEL)
    BenchHarness(QUIET, changed, act, parts=(*WITHOUT_THINKER, "panel")).play()
