"""The echo meter measures levels by band with the canceller that conversations use."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.echo_meter import EDGES_HZ, LONGEST_S, EchoMeter
from appliance.hear.pipeline import HearingPipeline
from appliance.messages.registry import decode, encode
from appliance.messages.trying import EchoMeasured
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples, from_float, to_int16
from appliance.settings import load

QUIET = np.zeros(BLOCK_FRAMES, np.int16)


def tone(hz: float, amplitude: float, seconds: float) -> Samples:
    time_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return from_float(amplitude * np.sin(2 * np.pi * hz * time_s))


def noise(seconds: float, level: float, seed: int = 1) -> Samples:
    frames = round(seconds * RATE_HZ)
    return from_float(level * np.random.default_rng(seed).standard_normal(frames))


def metered(
    mic: Samples, left: Samples, played: Samples, busy: range = range(0), end: bool = True
) -> EchoMeasured:
    """Feed the meter. `busy` are the blocks in which the pipeline follows a sound."""
    meter = EchoMeter(3)
    for number in range(len(mic) // BLOCK_FRAMES):
        at = slice(number * BLOCK_FRAMES, (number + 1) * BLOCK_FRAMES)
        meter.process(mic[at], left[at], played[at], busy=number in busy)
    if end:
        meter.end()
    return meter.finish("works")


@pytest.mark.parametrize(("hz", "band"), [(300, 0), (700, 1), (1500, 2), (3000, 3), (5000, 4)])
def test_a_tone_is_counted_in_its_band_with_its_level(hz: float, band: int) -> None:
    played = tone(hz, 0.2, 4)
    found = metered(tone(hz, 0.1, 4), tone(hz, 0.01, 4), played)
    band_levels = found.bands[band]
    assert (band_levels.low_hz, band_levels.high_hz) == (EDGES_HZ[band], EDGES_HZ[band + 1])
    assert band_levels.heard_db == pytest.approx(-23, abs=0.3)
    assert band_levels.left_db == pytest.approx(-43, abs=0.3)
    assert all(other.heard_db < -60 for other in found.bands if other is not band_levels)
    assert found.sounded_s == pytest.approx(4, abs=0.05)


def test_the_room_noise_is_measured_while_nothing_is_played() -> None:
    silence, sound = np.zeros(2 * RATE_HZ, np.int16), tone(700, 0.2, 3)
    played = np.concatenate([silence, sound, silence])
    room = noise(7, 0.001)
    found = metered(room, room, played)
    assert sum(10 ** (band.noise_db / 10) for band in found.bands) == pytest.approx(
        1e-6 * 6875 / 8000, rel=0.15
    )


def test_speech_during_the_test_is_excluded_and_counted() -> None:
    played = tone(700, 0.2, 5)
    mic = tone(700, 0.1, 5)
    loud = mic.copy()
    loud[3 * RATE_HZ : 4 * RATE_HZ] = tone(700, 0.9, 1)
    blocks = range(3 * RATE_HZ // BLOCK_FRAMES, 4 * RATE_HZ // BLOCK_FRAMES)
    found = metered(loud, loud, played, blocks)
    assert found.onsets == 1
    assert found.bands[1].heard_db == pytest.approx(-23, abs=0.3)
    assert metered(mic, mic, played).onsets == 0


def test_clipped_samples_are_counted_only_while_the_box_plays() -> None:
    played = np.concatenate([np.zeros(RATE_HZ, np.int16), tone(700, 0.2, 2)])
    mic = np.full(len(played), 100, np.int16)
    mic[:50] = 32_767
    assert metered(mic, mic, played).clipped == 0
    mic[2 * RATE_HZ :][:50] = -32_768
    assert metered(mic, mic, played).clipped == 50


def test_without_playback_nothing_is_measured() -> None:
    room = noise(3, 0.001)
    found = metered(room, room, np.zeros(len(room), np.int16))
    assert (found.sounded_s, found.bands[0].heard_db) == (0.0, -100.0)


def test_the_measurement_ends_shortly_after_the_sound_or_at_its_limit() -> None:
    meter = EchoMeter(3)
    for _ in range(round(LONGEST_S * RATE_HZ) // BLOCK_FRAMES):
        meter.process(QUIET, QUIET, QUIET, busy=False)
    over = [meter.over]
    meter.process(QUIET, QUIET, QUIET, busy=False)
    assert [*over, meter.over] == [False, True]
    meter = EchoMeter(3)
    meter.end()
    blocks = 0
    while not meter.over:
        meter.process(QUIET, QUIET, QUIET, busy=False)
        blocks += 1
    assert 0.5 < blocks * BLOCK_FRAMES / RATE_HZ < 1.0


@pytest.mark.long
def test_the_levels_are_those_of_the_pipelines_canceller() -> None:
    """The real pipeline, a loudspeaker whose echo is 20 dB down, and a quiet room."""
    hearing = HearingPipeline(load(None).hearing)
    hearing.answering = True
    played = noise(5, 0.05)
    delay = 32
    echo = 0.1 * np.concatenate([np.zeros(delay), played[:-delay]])
    mic = to_int16(echo + noise(5, 0.0003, seed=2))
    meter = EchoMeter(3)
    for at in range(0, len(mic) - BLOCK_FRAMES, BLOCK_FRAMES):
        block = slice(at, at + BLOCK_FRAMES)
        hearing.process(mic[block], played[block], at)
        assert hearing.last_block is not None
        busy = bool(hearing.active_serial)
        meter.process(mic[block], hearing.last_block.samples, played[block], busy=busy)
    found = meter.finish("works")
    assert decode(encode(found)) == found, "the message can be encoded"
    for band in found.bands:
        assert band.heard_db - band.left_db > 15
