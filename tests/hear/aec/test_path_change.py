"""A residual is recognised as echo after the box was moved or its volume changed."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from appliance.hear.aec.path_change import EchoPathChangeDetector
from appliance.hear.aec.path_estimate import Floats
from appliance.messages.hearing import Verdict
from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from lab.bench import bench_speech
from lab.bench.interruption_trials import TrialRoom, echo_of
from lab.bench.simulated_room import RoomSession, SimulatedBox
from lab.sim.speech_source import SPEECH_DB
from tests.hear.arena import networks


def noise(seed: int, seconds: float = 1.0) -> Floats:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.1, round(seconds * RATE_HZ) // 80 * 80).astype(np.float32)


def detected_gains(left: Floats, echo: Floats) -> list[float | None]:
    """The gain of each detected change."""
    detector = EchoPathChangeDetector()
    pairs = zip(left.reshape(-1, 80), echo.reshape(-1, 80), strict=True)
    return [detector.gain for one, other in pairs if detector.process(one, other)]


@pytest.mark.parametrize("gain", [3.0, 0.3])
def test_a_volume_change_is_detected_within_80_ms_and_its_gain_measured(gain: float) -> None:
    echo = noise(1, 0.085)
    assert detected_gains(echo * np.float32(gain - 1), echo) == [pytest.approx(gain, rel=0.01)]


def test_a_move_is_detected_without_a_gain() -> None:
    echo, other = noise(1, 0.085), noise(2, 0.085)
    assert detected_gains(other - echo, echo) == [None]


def test_near_speech_and_a_small_residual_are_not_a_change() -> None:
    assert detected_gains(noise(2), noise(1)) == []
    assert detected_gains(noise(1) * np.float32(0.3), noise(1)) == []


def test_the_decay_of_an_echo_and_an_echo_not_yet_arrived_are_not_a_change() -> None:
    """The response is always slightly wrong there, and nothing else masks the error."""
    echo = noise(1, 0.5)
    faint = noise(3, 0.2) * np.float32(0.1)
    for left in (faint * np.float32(-0.7) + noise(4, 0.2) * np.float32(0.06), -faint):
        heard = np.concatenate([echo * np.float32(0.1), left])
        assert detected_gains(heard, np.concatenate([echo, faint])) == []
    assert detected_gains(-faint, faint) == [], "an echo that is missing altogether is not a change"


@pytest.fixture(scope="module")
def talking_for_10_s() -> RoomSession:
    """A box that talks in a room, to be copied."""
    box = SimulatedBox(bench_speech.espeak_talk(14, 13), load_defaults())
    faint = np.random.default_rng(3).normal(0, 8, RATE_HZ).astype(np.int16)
    session = RoomSession(box, echo_of(TrialRoom("", 0.4, 23, SPEECH_DB)), faint, 14 * RATE_HZ)
    while session.now < 10 * RATE_HZ:
        session.advance()
    return session


@pytest.mark.process  # 14 s of sound through the whole pipeline
@pytest.mark.parametrize(("seed", "echo_db"), [(43, 0.0), (23, 10.0)], ids=["moved", "turned"])
def test_a_box_that_is_moved_or_turned_up_while_it_talks_does_not_interrupt_itself(
    talking_for_10_s: RoomSession, seed: int, echo_db: float
) -> None:
    box = talking_for_10_s.machine
    assert isinstance(box, SimulatedBox)
    session = copy.deepcopy(talking_for_10_s, {id(net): net for net in networks(box.hearing)})
    box = session.machine
    assert isinstance(box, SimulatedBox)
    session._echo = echo_of(TrialRoom("", 0.4, seed, SPEECH_DB + echo_db))
    while not session.ended:
        session.advance()
    assert [t.event.kind for t in box.events
            if isinstance(t.event, Verdict) and t.event.kind == "interruption"] == []  # fmt: skip
