"""The playback side of the software sound card."""

from __future__ import annotations

import ctypes
import errno
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from appliance.pcm import Samples
from lab.sim.card_events import CardEventKind, StreamDirection
from lab.sim.card_memory_layout import RING_FRAMES

pytestmark = pytest.mark.process


@pytest.mark.parametrize("rate_hz", [16000, 48000])
def test_frames_are_played_in_real_time_and_unchanged(
    stage: Callable[..., Any], alsa: Any, rate_hz: int
) -> None:
    """A blocking writer is paced: after the drain, exactly that many frames have passed."""
    room = stage(rate_hz)
    sound = np.arange(1, rate_hz + 1).astype(np.int16)  # one second, which is two buffers
    _, pcm = alsa.open()
    assert alsa.set_up(pcm, rate_hz) == 0
    assert alsa.write(pcm, sound) == len(sound)
    assert alsa.lib.snd_pcm_drain(pcm) == 0
    start = room.event(StreamDirection.PLAYBACK, CardEventKind.START).index
    stop = room.event(StreamDirection.PLAYBACK, CardEventKind.STOP)
    assert room.kinds(StreamDirection.PLAYBACK) == [CardEventKind.START, CardEventKind.STOP]
    assert (stop.index - start, stop.frames) == (len(sound), 0)
    room.wait(stop.index + 100)
    assert np.array_equal(room.card.loudspeaker(start, len(sound)), sound)
    assert not room.card.loudspeaker(stop.index, 100).any()


def test_poll_returns_when_a_period_is_free_and_not_before(stage: Callable[..., Any]) -> None:
    room = stage()
    pcm = room.open(0, period=80, periods=64)
    silence = bytes(2 * 80)
    poll = select.poll()
    for descriptor, events in pcm.polldescriptors():
        poll.register(descriptor, events)
    pcm.write(64 * silence)
    ready = 0
    for _ in range(60):
        if pcm.polldescriptors_revents(poll.poll(5000)):
            assert pcm.avail() >= 80
            assert pcm.write(silence) == 80
            ready += 1
    assert ready >= 50  # spurious wake-ups are rare
    pcm.close()


def test_an_underrun_is_logged_at_the_first_missing_frame(
    stage: Callable[..., Any], ramp: Samples
) -> None:
    room = stage()
    pcm, start = room.play(ramp[:800])
    room.wait(start + 1000)
    assert pcm.write(ramp[:80].tobytes()) == -errno.EPIPE
    xrun = room.event(StreamDirection.PLAYBACK, CardEventKind.XRUN)
    assert xrun.index == start + 800
    assert xrun.frames >= 200
    assert not room.card.loudspeaker(start + 800, 200).any()
    pcm.close()


def test_after_an_underrun_the_stream_starts_again(
    stage: Callable[..., Any], ramp: Samples
) -> None:
    room = stage()
    pcm, start = room.play(ramp[:80])
    room.wait(start + 81)
    assert pcm.write(ramp.tobytes()) == -errno.EPIPE
    assert pcm.write(ramp[:800].tobytes()) == 800
    again = room.event(StreamDirection.PLAYBACK, CardEventKind.START).index
    room.wait(again + 800)
    assert again > start
    assert np.array_equal(room.card.loudspeaker(again, 800), ramp[:800])
    pcm.close()


def test_pause_and_resume_neither_lose_nor_repeat_frames(
    stage: Callable[..., Any], ramp: Samples
) -> None:
    room = stage()
    pcm, start = room.play(ramp[:8000])
    room.wait(start + 1000)
    pcm.pause(1)
    pause = room.event(StreamDirection.PLAYBACK, CardEventKind.PAUSE)
    played = pause.index - start
    assert pcm.write(ramp[8000:9600].tobytes()) == 1600  # frames written meanwhile are queued
    room.wait(pause.index + 800)
    pcm.pause(0)
    resume = room.event(StreamDirection.PLAYBACK, CardEventKind.RESUME)
    assert (pause.frames, resume.frames) == (8000 - played, 9600 - played)
    room.wait(resume.index + 9600 - played)
    assert np.array_equal(room.card.loudspeaker(start, played), ramp[:played])
    gap = resume.index - pause.index
    assert gap >= 800
    assert not room.card.loudspeaker(pause.index, gap).any()
    rest = room.card.loudspeaker(resume.index, 9600 - played)
    assert np.array_equal(rest, ramp[played:9600])
    pcm.close()


def test_drop_silences_playback_from_the_logged_frame(
    stage: Callable[..., Any], ramp: Samples
) -> None:
    room = stage()
    pcm, start = room.play(ramp[:8000])
    room.wait(start + 1000)
    pcm.drop()
    stop = room.event(StreamDirection.PLAYBACK, CardEventKind.STOP)
    played = stop.index - start
    assert stop.frames == 8000 - played
    room.wait(start + 8000)
    heard = room.card.loudspeaker(start, 8000)
    assert np.array_equal(heard[:played], ramp[:played])
    assert not heard[played:].any()
    pcm.close()


def test_avail_reports_the_number_of_played_frames(
    stage: Callable[..., Any], ramp: Samples
) -> None:
    room = stage()
    pcm, start = room.play(ramp[:8000])
    buffer = 512 * 64
    for wait in (100, 1000, 3000):
        room.wait(start + wait)
        before = room.card.now()
        played = 8000 - (buffer - pcm.avail())
        assert before <= start + played <= room.card.now()
    pcm.close()


def test_delay_counts_the_queued_frames_and_the_fifo(
    stage: Callable[..., Any], alsa: Any, ramp: Samples
) -> None:
    room = stage(output_fifo_frames=48)
    _, pcm = alsa.open()
    alsa.set_up(pcm, 16000)
    alsa.write(pcm, ramp[:4000])
    alsa.lib.snd_pcm_start(pcm)
    start = room.event(StreamDirection.PLAYBACK, CardEventKind.START).index
    before = room.card.now()
    audible = start + 4000 - alsa.delay(pcm) + 48
    assert before <= audible <= room.card.now()


def test_rewound_frames_are_replaced(stage: Callable[..., Any], alsa: Any, ramp: Samples) -> None:
    room = stage()
    _, pcm = alsa.open()
    alsa.set_up(pcm, 16000)
    alsa.write(pcm, ramp[:8000])  # the whole buffer, which starts the stream
    start = room.event(StreamDirection.PLAYBACK, CardEventKind.START).index
    alsa.lib.snd_pcm_avail(pcm)
    back = alsa.lib.snd_pcm_rewind(pcm, ctypes.c_ulong(4000))
    assert back == 4000
    assert alsa.write(pcm, np.full(4000, -7, np.int16)) == 4000
    room.wait(start + 8000)
    heard = room.card.loudspeaker(start, 8000)
    assert np.array_equal(heard[:4000], ramp[:4000])
    assert (heard[4000:] == -7).all()


def test_sound_and_echo_are_continuous_across_the_end_of_the_ring(
    stage: Callable[..., Any], ramp: Samples
) -> None:
    room = stage(echo=[0.0, 1.0])
    # Set the origin back so that the card is a quarter of a second short of one lap of the ring.
    missing = RING_FRAMES - 4000 - room.card.now()
    room.card._card["origin_ns"] -= missing * 1_000_000_000 // 16000
    room.card.origin_ns = int(room.card._card["origin_ns"])
    capture, first = room.capture()
    pcm, start = room.play(ramp[:8000])
    heard = room.read_until(capture, start + 8200)
    assert start < RING_FRAMES < start + 8000
    assert np.array_equal(room.card.loudspeaker(start, 8000), ramp[:8000])
    assert np.array_equal(heard[start + 1 - first :][:8000], ramp[:8000])
    assert np.array_equal(room.card.microphone(start + 1, 8000), ramp[:8000])
    pcm.close()
    capture.close()


def test_a_drop_ends_a_blocking_write_of_another_thread(
    stage: Callable[..., Any], alsa: Any
) -> None:
    room = stage()
    _, pcm = alsa.open()
    alsa.set_up(pcm, 16000)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(alsa.write, pcm, np.ones(160000, np.int16))  # ten seconds
        while not room.card.events():
            time.sleep(0.01)
        alsa.lib.snd_pcm_drop(pcm)
        assert writing.result(timeout=5) < 160000


def test_two_channels_are_recorded_as_their_mean(stage: Callable[..., Any], ramp: Samples) -> None:
    room = stage()
    left, right = ramp[:800], np.full(800, 100, np.int16)
    pcm, start = room.play(np.stack([left, right], axis=1).reshape(-1), channels=2)
    room.wait(start + 800)
    assert np.array_equal(room.card.loudspeaker(start, 800), (left + right) // 2)
    pcm.close()


def test_a_coarse_card_advances_in_steps(stage: Callable[..., Any], ramp: Samples) -> None:
    room = stage(granularity_frames=32)
    pcm, start = room.play(ramp[:6400])
    assert start % 32 == 0
    for wait in range(start, start + 640, 11):
        room.wait(wait)
        played = 6400 - (512 * 64 - pcm.avail())
        assert played % 32 == 0
    pcm.close()


PLAYER = """
import alsaaudio, time
pcm = alsaaudio.PCM(alsaaudio.PCM_PLAYBACK, device="sim", rate=16000, channels=1,
                    format=alsaaudio.PCM_FORMAT_S16_LE, periodsize=400, periods=8)
pcm.write(b"\\x11\\x22" * 3200)
print("playing", flush=True)
time.sleep(60)
"""


def test_a_killed_player_is_followed_by_silence(stage: Callable[..., Any]) -> None:
    room = stage()
    with subprocess.Popen([sys.executable, "-c", PLAYER], stdout=subprocess.PIPE) as player:
        assert player.stdout is not None
        assert player.stdout.readline() == b"playing\n"
        player.send_signal(signal.SIGKILL)
    start = room.event(StreamDirection.PLAYBACK, CardEventKind.START).index
    room.wait(start + 4800)
    heard = room.card.loudspeaker(start, 4800)
    assert (heard[:3200] == 0x2211).all()  # the queued frames are still played
    assert not heard[3200:].any()
    # One lap later the same slots are played again, and they still contain the old samples.
    room.card._card["origin_ns"] -= RING_FRAMES * 1_000_000_000 // 16000
    room.card.origin_ns = int(room.card._card["origin_ns"])
    assert not room.card.loudspeaker(start + RING_FRAMES, 4800).any()


def test_a_killed_player_leaves_the_card_free(stage: Callable[..., Any], ramp: Samples) -> None:
    """The frames that it had queued are not mixed into the sound of the next player."""
    room = stage()
    with subprocess.Popen([sys.executable, "-c", PLAYER], stdout=subprocess.PIPE) as player:
        assert player.stdout is not None
        assert player.stdout.readline() == b"playing\n"
        player.send_signal(signal.SIGKILL)
    pcm, start = room.play(ramp[:160])
    room.wait(start + 3300)
    heard = room.card.loudspeaker(start, 3300)
    assert np.array_equal(heard[:160], ramp[:160])
    assert not heard[160:].any()
    pcm.close()
