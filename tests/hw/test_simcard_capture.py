"""The capture side of the software sound card, and the simulated room."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from appliance.pcm import Samples
from lab.sim.card_events import CardEventKind, StreamDirection
from lab.sim.card_memory_layout import MAX_BUFFER_FRAMES, MAX_TAPS

pytestmark = pytest.mark.process

LEAD = 3200  # how far ahead of the card a test adds sound: 0.2 s at 16 kHz


@pytest.mark.parametrize("rate_hz", [16000, 48000])
def test_a_click_is_captured_at_its_index(stage: Callable[..., Any], rate_hz: int) -> None:
    room = stage(rate_hz)
    pcm, start = room.capture()
    click = room.card.now() + 3 * LEAD
    room.card.add_sound(click, np.array([20000], np.int16))
    heard = room.read_until(pcm, click)
    assert np.flatnonzero(heard).tolist() == [click - start]
    end = start + len(heard)
    assert room.card.microphone_end() >= end
    assert np.array_equal(room.card.microphone(start, len(heard)), heard)
    pcm.close()


def test_sounds_are_added(stage: Callable[..., Any]) -> None:
    room = stage()
    pcm, start = room.capture()
    at = room.card.now() + LEAD
    room.card.add_sound(at, np.full(200, 1000, np.int16))
    room.card.add_sound(at + 100, np.full(200, -300, np.int16))
    heard = room.read_until(pcm, at + 300)[at - start :]
    assert (heard[:100] == 1000).all()
    assert (heard[100:200] == 700).all()
    assert (heard[200:300] == -300).all()
    pcm.close()


def test_a_sum_beyond_full_scale_is_clipped(stage: Callable[..., Any]) -> None:
    room = stage()
    pcm, start = room.capture()
    at = room.card.now() + LEAD
    for _ in range(3):
        room.card.add_sound(at, np.array([30000, -30000, 10000], np.int16))
    heard = room.read_until(pcm, at + 3)[at - start :]
    assert heard[:3].tolist() == [32767, -32768, 30000]
    pcm.close()


def test_a_removed_sound_is_not_captured(stage: Callable[..., Any]) -> None:
    room = stage()
    pcm, start = room.capture()
    at = room.card.now() + LEAD
    room.card.add_sound(at, np.full(400, 1000, np.int16))
    room.card.remove_sounds(at + 150)
    heard = room.read_until(pcm, at + 400)[at - start :]
    assert (heard[:150] == 1000).all()
    assert not heard[150:].any()
    pcm.close()


def test_both_channels_capture_the_same(stage: Callable[..., Any]) -> None:
    room = stage()
    pcm, start = room.capture(channels=2, periods=16)
    at = room.card.now() + LEAD
    room.card.add_sound(at, np.arange(1, 401).astype(np.int16))
    heard = room.read_until(pcm, at + 400).reshape(-1, 2)[at - start :]
    assert np.array_equal(heard[:400, 0], np.arange(1, 401))
    assert np.array_equal(heard[:, 0], heard[:, 1])
    pcm.close()


@pytest.mark.parametrize(("output_fifo", "input_fifo"), [(0, 0), (32, 16)])
def test_an_impulse_is_captured_as_the_impulse_response(
    stage: Callable[..., Any], output_fifo: int, input_fifo: int
) -> None:
    response = np.array([0.5, 0.0, -0.25, 0.125], np.float32)
    room = stage(
        echo=response,
        echo_delay=40,
        output_fifo_frames=output_fifo,
        input_fifo_frames=input_fifo,
    )
    pcm, start = room.capture()
    impulse = np.zeros(800, np.int16)
    impulse[100] = 16000
    player, played = room.play(impulse)
    heard = room.read_until(pcm, played + 800)
    first = played + 100 + 40 + output_fifo + input_fifo - start
    assert heard[first : first + 4].tolist() == [8000, 0, -4000, 2000]
    assert np.count_nonzero(heard) == 3
    player.close()
    pcm.close()


def test_echo_and_near_end_sound_are_added(stage: Callable[..., Any]) -> None:
    room = stage(echo=[0.5])
    pcm, start = room.capture()
    player, played = room.play(np.full(16000, 2000, np.int16))
    at = room.card.now() + LEAD
    room.card.add_sound(at, np.full(100, 300, np.int16))
    assert at + 200 < played + 16000
    heard = room.read_until(pcm, at + 200)[at - start :]
    assert (heard[:100] == 1300).all()
    assert (heard[100:200] == 1000).all()
    player.close()
    pcm.close()


def test_the_longest_impulse_response_at_48_khz_is_convolved_exactly(
    stage: Callable[..., Any],
) -> None:
    random = np.random.default_rng(5)
    response = (random.standard_normal(MAX_TAPS) * 0.003).astype(np.float32)
    room = stage(48000, echo=response, echo_delay=7)
    pcm, start = room.capture()
    sound = random.integers(-20000, 20000, 12000).astype(np.int16)
    player, played = room.play(sound)
    heard = room.read_until(pcm, played + 16000)
    expected = np.convolve(sound.astype(np.float64), response.astype(np.float64))[:15000]
    got = heard[played + 7 - start :][:15000]
    assert np.max(np.abs(got - expected)) <= 1
    player.close()
    pcm.close()


def test_gain_and_nonlinearity_are_applied_to_the_echo(stage: Callable[..., Any]) -> None:
    room = stage()
    room.card.set_echo([1.0], gain=0.5, drive=2.0)
    pcm, start = room.capture()
    player, played = room.play(np.full(200, 16384, np.int16))
    heard = room.read_until(pcm, played + 200)[played - start :]
    assert heard[0] == round(np.tanh(0.25 * 2) / 2 * 32768)
    player.close()
    pcm.close()


def test_the_echo_path_can_change_while_the_card_runs(stage: Callable[..., Any]) -> None:
    room = stage(echo=[0.5])
    pcm, start = room.capture()
    player, played = room.play(np.full(8000, 1000, np.int16))
    before = room.read_until(pcm, played + 800)
    room.card.set_echo([0.25])
    after = room.read_until(pcm, start + len(before) + 800)
    assert before[-1] == 500
    assert after[0] == 250
    room.card.set_echo(None)
    gone = room.read_until(pcm, start + len(before) + len(after) + 800)
    assert not gone.any()
    player.close()
    pcm.close()


def test_an_incomplete_echo_path_is_not_used(stage: Callable[..., Any]) -> None:
    room = stage(echo=[0.5])
    pcm, start = room.capture()
    player, played = room.play(np.full(8000, 1000, np.int16))
    before = room.read_until(pcm, played + 800)
    path = room.card._card["path"]
    path["h"][0] = 0.25  # the checksum is still that of the old path
    path["serial"] += 1
    after = room.read_until(pcm, start + len(before) + 800)
    assert (before[-1], after[0]) == (500, 500)
    player.close()
    pcm.close()


def test_an_overrun_is_logged_at_the_first_lost_frame(stage: Callable[..., Any]) -> None:
    room = stage()
    pcm, start = room.capture(period=80, periods=4)
    room.wait(start + 1000)
    assert pcm.read()[0] == -errno.EPIPE
    xrun = room.event(StreamDirection.CAPTURE, CardEventKind.XRUN)
    taken = len(room.first_read) // 2
    assert xrun.index == start + taken
    assert xrun.frames >= 1000 - taken
    pcm.close()


def test_after_an_overrun_capture_starts_again(stage: Callable[..., Any]) -> None:
    room = stage()
    pcm, start = room.capture(period=80, periods=64)
    room.wait(start + 80 * 64)
    assert pcm.read()[0] == -errno.EPIPE
    pcm.read()
    again = room.event(StreamDirection.CAPTURE, CardEventKind.START).index
    assert again > start + 80 * 64
    room.read_until(pcm, again + 800)
    assert room.card.microphone_end() > again + 800
    pcm.close()


def test_the_microphone_is_silent_where_nothing_was_captured(stage: Callable[..., Any]) -> None:
    room = stage(48000)
    at = room.card.now() + 3 * LEAD
    room.card.add_sound(at, np.full(100, 1000, np.int16))
    room.wait(at + 100 + MAX_BUFFER_FRAMES)
    assert not room.card.microphone(at, 100).any()


def test_the_echo_continues_after_a_drop(stage: Callable[..., Any], ramp: Samples) -> None:
    """Sound that is already in the air is not stopped by drop()."""
    response = np.zeros(400, np.float32)
    response[399] = 1.0
    room = stage(echo=response)
    pcm, start = room.capture()
    player, played = room.play(ramp[:8000])
    room.wait(played + 1000)
    player.drop()
    stop = room.event(StreamDirection.PLAYBACK, CardEventKind.STOP).index
    heard = room.read_until(pcm, stop + 800)
    assert heard[stop - start + 398] == ramp[stop - played - 1]
    assert not heard[stop - start + 399 :].any()
    player.close()
    pcm.close()
