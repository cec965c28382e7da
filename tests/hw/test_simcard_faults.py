"""Faults of a sound card: unplugged, busy, wrong rate, missing."""

from __future__ import annotations

import errno
import select
import subprocess
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import alsaaudio
import numpy as np
import pytest

from appliance.pcm import Samples
from lab.sim.card_events import CardEventKind, StreamDirection
from lab.sim.card_memory_layout import LAYOUT
from lab.sim.simulated_card import SoundCard

pytestmark = pytest.mark.process


def test_an_unplugged_card_ends_its_streams(stage: Callable[..., Any], ramp: Samples) -> None:
    room = stage()
    player, start = room.play(ramp[:8000])
    capture, _ = room.capture()
    descriptor, events = player.polldescriptors()[0]
    room.wait(start + 800)
    unplugged = room.card.unplug()
    poll = select.poll()
    poll.register(descriptor, events)
    revents = 0
    while not revents:
        revents = player.polldescriptors_revents(poll.poll(5000))
    assert revents & select.POLLERR
    assert revents & select.POLLHUP
    with pytest.raises(alsaaudio.ALSAAudioError, match="No such device"):
        player.write(bytes(160))
    with pytest.raises(alsaaudio.ALSAAudioError, match="No such device"):
        capture.read()
    room.wait(start + 8000)
    heard = room.card.loudspeaker(start, 8000)
    assert np.array_equal(heard[: unplugged - start], ramp[: unplugged - start])
    assert not heard[unplugged - start :].any()
    assert room.kinds(StreamDirection.PLAYBACK) == [CardEventKind.START, CardEventKind.STOP]


def test_a_replugged_card_can_be_opened_and_old_streams_stay_invalid(
    stage: Callable[..., Any], alsa: Any, ramp: Samples
) -> None:
    room = stage()
    old, _ = room.play(ramp[:8000])
    room.card.unplug()
    assert alsa.open()[0] == -errno.ENODEV
    room.card.plug()
    with pytest.raises(alsaaudio.ALSAAudioError, match="No such device"):
        old.write(bytes(160))
    old.close()
    new, start = room.play(ramp[:800])
    room.wait(start + 800)
    assert np.array_equal(room.card.loudspeaker(start, 800), ramp[:800])
    new.close()


def test_a_paused_stream_is_woken_when_the_card_is_unplugged(stage: Callable[..., Any]) -> None:
    """Nothing is played and the buffer is full, so no period would wake it."""
    room = stage()
    pcm, start = room.play(np.ones(512 * 64, np.int16))
    room.wait(start + 80)
    pcm.pause(1)
    assert pcm.write(np.ones(512 * 64, np.int16).tobytes()) > 0  # fill it up
    room.card.unplug()
    poll = select.poll()
    poll.register(*pcm.polldescriptors()[0])
    revents = 0
    while not revents:
        revents = pcm.polldescriptors_revents(poll.poll(5000))
    assert revents == select.POLLERR | select.POLLHUP
    pcm.close()


def test_a_busy_card_is_refused_and_a_free_one_opens(stage: Callable[..., Any], alsa: Any) -> None:
    room = stage()
    room.card.set_busy(True)
    assert alsa.open()[0] == -errno.EBUSY
    room.card.set_busy(False)
    assert alsa.open()[0] == 0


def test_each_direction_opens_once(stage: Callable[..., Any], alsa: Any) -> None:
    stage()
    assert alsa.open(0)[0] == 0
    assert alsa.open(0)[0] == -errno.EBUSY
    assert alsa.open(1)[0] == 0
    alsa.close()
    assert alsa.open(0)[0] == 0


def test_only_the_rate_of_the_card_is_accepted(stage: Callable[..., Any], alsa: Any) -> None:
    stage(16000)
    _, pcm = alsa.open()
    assert alsa.set_up(pcm, 48000) == -errno.EINVAL
    assert alsa.set_up(pcm, 16000) == 0
    assert alsa.set_up(pcm, 16000, channels=3) == -errno.EINVAL


def test_without_its_file_there_is_no_card(alsa_config: Path, alsa: Any) -> None:
    assert not alsa_config.exists()
    assert alsa.open()[0] == -errno.ENOENT


@pytest.mark.parametrize("size", [0, 100, LAYOUT.itemsize - 1])
def test_a_truncated_file_is_no_card(alsa_config: Path, alsa: Any, size: int) -> None:
    with SoundCard.create(alsa_config, 16000), alsa_config.open("r+b") as file:
        file.truncate(size)
        assert alsa.open()[0] == -errno.EINVAL


@pytest.mark.parametrize(
    ("field", "value"),
    [("magic", 1), ("rate_hz", 0), ("rate_hz", 10**6), ("granularity_frames", 0)],
)
def test_a_file_with_an_invalid_header_is_no_card(
    stage: Callable[..., Any], alsa: Any, field: str, value: int
) -> None:
    room = stage()
    room.card._card[field] = value
    assert alsa.open()[0] == -errno.EINVAL


@pytest.mark.parametrize("fields", ["", 'shm "card" colour "red"', "shm 3"])
def test_alsa_settings_without_a_file_or_with_unknown_fields_are_refused(
    alsa_config: Path, alsa: Any, fields: str
) -> None:
    config = alsa_config.parent / "asound.conf"
    with config.open("a") as file:
        file.write(f"pcm.odd {{ type simcard {fields} }}\n")
    assert alsa.open(device="odd")[0] == -errno.EINVAL


def test_alsa_utils_play_and_record_through_plug(stage: Callable[..., Any]) -> None:
    """With another rate and format, which ALSA's plug layer converts."""
    room = stage(16000, echo=[0.5])
    tone = (8000 * np.sin(np.arange(48000) * 2 * np.pi * 440 / 48000)).astype(np.int16)
    with wave.open(str(room.folder / "tone.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48000)
        file.writeframes(tone.tobytes())
    recorded = room.folder / "taped.wav"
    record = ["arecord", "-q", "-D", "plug:sim", "-f", "S16_LE", "-c", "2", "-r", "48000"]
    with subprocess.Popen([*record, "-d", "2", str(recorded)]) as recorder:
        subprocess.run(["aplay", "-q", "-D", "plug:sim", str(room.folder / "tone.wav")], check=True)
        assert recorder.wait() == 0
    start = room.event(StreamDirection.PLAYBACK, CardEventKind.START).index
    assert np.max(room.card.loudspeaker(start, 16000)) == pytest.approx(8000, abs=200)
    with wave.open(str(recorded)) as file:
        heard = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    assert np.max(heard) == pytest.approx(4000, abs=200)
