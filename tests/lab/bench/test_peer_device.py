"""A program as a device of the simulated room, by a small program without any package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from appliance.messages.hearing import Onset, Verdict
from appliance.pcm import BLOCK_FRAMES, RATE_HZ
from lab.bench.benches import BenchError
from lab.bench.interruption_trials import ANSWERED_S, Spec, TrialRoom, play
from lab.bench.peer_device import PeerDevice
from lab.bench.simulated_room import TimedEvent
from lab.peers.pipe import Start, Words
from lab.peers.program import FINAL_S
from lab.sim.synthetic_phrases import Phrase

COMMAND = (sys.executable, str(Path(__file__).with_name("fake_peer.py")))
TALK = np.tile(np.array([6000, -6000], np.int16), RATE_HZ)
SILENCE = np.zeros(BLOCK_FRAMES, np.int16)
MS = RATE_HZ // 1000


def started(asked: int = 0, **options: float) -> PeerDevice:
    return PeerDevice(COMMAND, Start("fake", options, asked, len(TALK)), TALK)


@pytest.fixture
def device() -> Iterator[PeerDevice]:
    made = started()
    yield made
    made.close()


def run(device: PeerDevice, first: int, frames: int) -> list[int]:
    """The samples at which blocks sounded."""
    sounding = []
    for at in range(first, first + frames, BLOCK_FRAMES):
        if device.play(at).any():
            sounding.append(at)
        device.process(SILENCE, at)
    return sounding


@pytest.mark.process
def test_a_pause_is_an_onset_and_a_verdict(device: PeerDevice) -> None:
    device.say(Words("hm", 0, 80 * MS))
    final = round(80 * MS + FINAL_S * RATE_HZ)
    sounding = run(device, 0, RATE_HZ)
    assert device.events == [
        TimedEvent(final, Onset(1, final, speaking=True)),
        TimedEvent(final + 500 * MS, Verdict(1, "backchannel", 500)),
    ]
    assert device.stops == [final]
    assert device.yields == []
    assert [at for at in range(0, RATE_HZ, BLOCK_FRAMES) if at not in sounding] == list(
        range(final, final + 500 * MS, BLOCK_FRAMES)
    )
    assert device.talking


@pytest.mark.process
def test_a_lost_answer_is_a_yield(device: PeerDevice) -> None:
    device.say(Words("wait", 0, 80 * MS))
    final = round(80 * MS + FINAL_S * RATE_HZ)
    run(device, 0, RATE_HZ)
    assert device.yields == [final]
    assert device.stops == [final]
    assert [type(event.event) for event in device.events] == [Onset, Verdict]
    assert device.events[1] == TimedEvent(final, Verdict(1, "interruption", 0))
    talking = [device.talking]
    run(device, RATE_HZ, 2 * RATE_HZ)
    assert [*talking, device.talking] == [False, True]  # another answer
    assert len(device.events) == 2


@pytest.mark.process
def test_trials_of_a_program_are_those_of_the_box() -> None:
    device = started(asked=round(ANSWERED_S * RATE_HZ))
    specs = (
        Phrase("interruption", "no", "en-us+f2", 180, 50),
        Phrase("backchannel", "hm", "en-us+f2", 150, 50),
    )
    question = Phrase("interruption", "how is bread made", "en-us+f2", 150, 50)
    told: list[tuple[str, int, int]] = []

    def tell(spec: Spec, onset: int, end: int) -> None:
        assert isinstance(spec, Phrase)
        told.append((spec.text, onset, end))
        device.say(Words(spec.text, onset, end))

    place = TrialRoom("small", 0.2, 1001, None)
    try:
        result = play(device, place, np.zeros(RATE_HZ, np.int16), specs, 1, 40.0, question, tell)
    finally:
        device.close()
    assert [text for text, _, _ in told] == ["how is bread made", "no", "hm"]
    call, murmur = result.trials
    late_ms = call.length_ms + FINAL_S * 1000
    assert call.yielded
    assert call.stop_ms == pytest.approx(late_ms, abs=6)  # a block
    assert call.verdict == "interruption"
    assert not murmur.yielded
    assert (murmur.resumes, murmur.verdict) == (1, "backchannel")
    assert result.pauses == []
    assert result.died_s == []


@pytest.mark.process
def test_a_program_that_has_ended_is_an_error_with_its_last_line() -> None:
    device = started(fails=1.0)
    with pytest.raises(BenchError, match=r"^fake has ended: ImportError: no such library$"):
        run(device, 0, RATE_HZ)
    device.close()


@pytest.mark.process
def test_closing_ends_the_program(device: PeerDevice) -> None:
    device.play(0)
    device.close()
    assert device._process.returncode is not None
