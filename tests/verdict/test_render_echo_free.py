"""Rendering many bursts at once gives the same bursts as the listener does one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from appliance.hear.onset.vad import HOP_FRAMES, VoiceActivityDetector
from appliance.pcm import BLOCK_FRAMES, RATE_HZ
from training.verdict import render_echo_free
from training.verdict.render import Heard

BEGINS = int(render_echo_free.BEFORE_S * RATE_HZ)


def a_room(level: float, seed: int = 0) -> npt.NDArray[np.int16]:
    """Hiss, and from BEGINS a rough tone of `level` for 0.3 s."""
    chance = np.random.default_rng(seed)
    sound = chance.normal(0, 20, render_echo_free.BLOCKS * BLOCK_FRAMES)
    frames = np.arange(int(0.3 * RATE_HZ))
    sound[BEGINS : BEGINS + len(frames)] += level * np.sign(np.sin(frames * (0.06 + seed / 100)))
    return sound.astype(np.int16)


def burst(level: float, hidden_db: float = -90.0, late_ms: float = 0.0) -> Heard | None:
    room = a_room(level)[None]
    high_passed, speech = render_echo_free.above_hum(room), render_echo_free.probabilities(room)
    return render_echo_free.follow(room[0], high_passed[0], speech[0], BEGINS, hidden_db, late_ms)


def test_the_speech_detector_gives_the_same_result_for_many_sounds_as_for_one() -> None:
    rooms = np.array([a_room(3000, 1), a_room(300, 2)])
    together = render_echo_free.probabilities(rooms)
    for room, found in zip(rooms, together, strict=True):
        detector = VoiceActivityDetector()
        alone = [detector.process(step) for step in room.reshape(-1, BLOCK_FRAMES)]
        where = [i for i, p in enumerate(alone) if p is not None]
        assert where == list(np.flatnonzero(~np.isnan(found)))
        assert len(where) == rooms.shape[1] // HOP_FRAMES
        assert found[where] == pytest.approx([alone[i] for i in where], abs=1e-3)


def test_a_sound_is_detected_at_its_start() -> None:
    heard = burst(3000)
    assert heard is not None
    assert abs(heard.lead_ms) <= 10
    assert len(np.concatenate(heard.sound)) == (heard.past_steps + len(heard.measures)) * 80


def test_a_late_detection_starts_at_most_a_tenth_of_a_second_earlier() -> None:
    heard = burst(3000, late_ms=150)
    assert heard is not None
    assert heard.lead_ms == pytest.approx(100 - 150, abs=15)
    assert (
        burst(3000, late_ms=render_echo_free.LATEST_MS + 50) is None
    )  # later detections are dropped


@pytest.mark.parametrize("seed", [0, 1])
def test_kitchen_noise_has_the_requested_level_and_no_seam(seed: int) -> None:
    chance = np.random.default_rng(seed)
    noise = render_echo_free.kitchen(-40.0, seed, np.array([1.0, 0.3], np.float32), chance)
    assert len(noise) == 8 * RATE_HZ
    assert 20 * np.log10(np.sqrt(np.mean(np.square(noise))) / 32768) == pytest.approx(-40, abs=0.1)
    usual = np.percentile(np.abs(np.diff(noise)), 99.9)
    assert abs(float(noise[0] - noise[-1])) <= 2 * usual


@pytest.mark.parametrize(("level", "hidden_db"), [(8, -90.0), (3000, -10.0)])
def test_a_sound_that_does_not_stand_out_is_not_a_burst(level: float, hidden_db: float) -> None:
    assert burst(level, hidden_db) is None
