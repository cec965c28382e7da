"""What is left is told to be the box's own voice after a move and after a turn of the volume."""

from __future__ import annotations

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


def noise(seed: int, seconds: float = 1.0) -> Floats:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.1, round(seconds * RATE_HZ) // 80 * 80).astype(np.float32)


def says(left: Floats, echo: Floats) -> list[float | None]:
    """The gains of all its yeses."""
    sameness = EchoPathChangeDetector()
    pairs = zip(left.reshape(-1, 80), echo.reshape(-1, 80), strict=True)
    return [sameness.gain for one, other in pairs if sameness.process(one, other)]


@pytest.mark.parametrize("gain", [3.0, 0.3])
def test_a_turn_of_the_volume_is_found_within_80_ms_and_measured(gain: float) -> None:
    echo = noise(1, 0.085)
    assert says(echo * np.float32(gain - 1), echo) == [pytest.approx(gain, rel=0.01)]


def test_after_a_move_nothing_of_the_old_echo_holds() -> None:
    echo, other = noise(1, 0.085), noise(2, 0.085)
    assert says(other - echo, echo) == [None]


def test_a_voice_as_loud_as_the_echo_is_no_change_and_neither_is_a_little_that_is_left() -> None:
    assert says(noise(2), noise(1)) == []
    assert says(noise(1) * np.float32(0.3), noise(1)) == []


def test_the_end_of_an_echo_and_the_first_of_one_that_has_not_arrived_say_nothing() -> None:
    """The response is a little wrong there, always, and only there is nothing else to be heard."""
    echo = noise(1, 0.5)
    faint = noise(3, 0.2) * np.float32(0.1)
    for left in (faint * np.float32(-0.7) + noise(4, 0.2) * np.float32(0.06), -faint):
        heard = np.concatenate([echo * np.float32(0.1), left])
        assert says(heard, np.concatenate([echo, faint])) == []
    assert says(-faint, faint) == [], "of what is not there any more nothing is to be learned"


@pytest.mark.process  # 14 s of sound each, through the whole pipeline
@pytest.mark.parametrize(("seed", "echo_db"), [(43, 0.0), (23, 10.0)], ids=["moved", "turned"])
def test_a_box_that_is_moved_or_turned_up_while_it_talks_does_not_interrupt_itself(
    seed: int, echo_db: float
) -> None:
    box = SimulatedBox(bench_speech.espeak_talk(14, 13), load_defaults())
    faint = np.random.default_rng(3).normal(0, 8, RATE_HZ).astype(np.int16)
    session = RoomSession(box, echo_of(TrialRoom("", 0.4, 23, SPEECH_DB)), faint, 14 * RATE_HZ)
    while not session.ended:
        if session.now == 10 * RATE_HZ:
            other = echo_of(TrialRoom("", 0.4, seed, SPEECH_DB + echo_db))
            session._echo = other
        session.advance()
    assert [t.event.kind for t in box.events
            if isinstance(t.event, Verdict) and t.event.kind == "interruption"] == []  # fmt: skip
