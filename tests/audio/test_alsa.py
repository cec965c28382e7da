"""Opening cards: their capabilities, and a clear error for each unusable card."""

from __future__ import annotations

import contextlib
import errno
import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.audio.alsa import (
    AlsaStream,
    DeviceCapabilities,
    Direction,
    _ask,
    _choose_channels,
    _open_error,
    open_stream,
)
from appliance.errors import CardError
from lab.sim.alsa_plugin import alsa_environment
from lab.sim.simulated_card import SoundCard
from tests.audio.rig import SHM

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]


def card_path(folder: Path) -> Path:
    return SHM / f"interlude-test-alsa-{os.getpid()}-{folder.name}"


@contextlib.contextmanager
def card_of(folder: Path, rate_hz: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[SoundCard]:
    """A machine with one card, "sim", and ALSA's converter in front of it, "easy"."""
    path = card_path(folder)
    with SoundCard.create(path, rate_hz) as card:
        for name, value in alsa_environment(folder, {"sim": path}).items():
            monkeypatch.setenv(name, value)
        with Path(os.environ["ALSA_CONFIG_PATH"]).open("a", encoding="utf-8") as config:
            config.write("pcm.easy { type plug slave.pcm sim }\n")
        yield card


def opened(device: str, direction: Direction, **wanted: int) -> AlsaStream:
    with open_stream(device, direction, period_ms=5, periods=3, **wanted) as stream:
        return stream


def refused(device: str, direction: Direction, **wanted: int) -> CardError:
    with pytest.raises(CardError) as caught:
        opened(device, direction, **wanted)
    return caught.value


@pytest.mark.parametrize("direction", ["capture", "playback"])
def test_16_khz_is_used_if_the_card_supports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, direction: Direction
) -> None:
    with card_of(tmp_path, 16_000, monkeypatch):
        stream, can = opened("sim", direction), _ask("sim", direction)
    assert (stream.rate_hz, stream.channels, stream.period_frames) == (16_000, 1, 80)
    assert stream.buffer_frames >= 240
    assert (can.rates_hz, can.channels) == ((16_000,), (1, 2))


@pytest.mark.parametrize("rate_hz", [32_000, 48_000, 96_000])
def test_another_multiple_of_16_khz_is_used_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rate_hz: int
) -> None:
    with card_of(tmp_path, rate_hz, monkeypatch):
        stream = opened("sim", "playback", rate_hz=rate_hz, channels=2)
    assert (stream.rate_hz, stream.channels) == (rate_hz, 2)
    assert stream.period_frames == rate_hz * 5 // 1000


def test_48_khz_is_the_default_if_16_khz_is_not_supported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with card_of(tmp_path, 48_000, monkeypatch):
        assert opened("sim", "capture").rate_hz == 48_000


@pytest.mark.parametrize("rate_hz", [44_100, 22_050])
def test_a_card_without_16_or_48_khz_is_refused_and_its_rates_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rate_hz: int
) -> None:
    with card_of(tmp_path, rate_hz, monkeypatch):
        error = refused("sim", "playback")
    assert error.problem == (
        f'The sound card "sim" can do neither 16 kHz nor 48 kHz, only {rate_hz} Hz.'
    )
    assert error.remedy


def test_a_requested_rate_that_the_card_lacks_is_refused_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with card_of(tmp_path, 48_000, monkeypatch):
        error = refused("sim", "playback", rate_hz=16_000)
    assert error.problem == 'The sound card "sim" cannot do 16000 Hz, only 48000 Hz.'
    assert "`card.rate_hz` to 0" in error.remedy


def test_alsas_converter_can_be_opened_like_a_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with card_of(tmp_path, 44_100, monkeypatch):
        assert opened("easy", "playback").rate_hz == 16_000


@pytest.mark.parametrize("direction", ["capture", "playback"])
@pytest.mark.parametrize("rate_hz", [16_000, 48_000])
def test_behind_plughw_the_cards_native_rate_is_used_instead_of_alsas_conversion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rate_hz: int, direction: Direction
) -> None:
    """The box opens `auto`'s card this way: at 16 kHz, ALSA would interpolate."""
    with hardware(tmp_path, rate_hz, monkeypatch):
        assert 16_000 in _ask("plughw:CARD=Array", direction).rates_hz
        stream = opened("plughw:CARD=Array", direction)
    assert (stream.rate_hz, stream.channels) == (rate_hz, 1)
    assert stream.period_frames == rate_hz * 5 // 1000  # 5 ms, as requested


@contextlib.contextmanager
def hardware(folder: Path, rate_hz: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[SoundCard]:
    """The software card under the names of a kernel card: hw:CARD=… and plughw:CARD=…"""
    takes = "@args [ CARD DEV ] @args.CARD { type string } @args.DEV { type integer default 0 }"
    with card_of(folder, rate_hz, monkeypatch) as card:
        with Path(os.environ["ALSA_CONFIG_PATH"]).open("a", encoding="utf-8") as config:
            shm = f'type simcard shm "{card_path(folder)}"'
            config.write(f"pcm.!hw {{ {takes} {shm} }}\n")
            config.write(f"pcm.!plughw {{ {takes} type plug slave.pcm {{ {shm} }} }}\n")
        yield card


@pytest.mark.parametrize(
    ("channels", "taken"), [((1, 2), 1), ((2,), 2), ((2, 4, 6), 2), ((6,), 6), ((4, 8), 4)]
)
def test_one_channel_or_the_fewest_supported_are_used(
    channels: tuple[int, ...], taken: int
) -> None:
    assert _choose_channels(DeviceCapabilities("hw:CARD=Array", (16_000,), channels)) == taken


@pytest.mark.parametrize("device", ["nobody", "hw:CARD=Nobody", "plughw:CARD=Nobody", "hw:7"])
def test_a_missing_card_is_an_error_with_a_remedy(
    capfd: pytest.CaptureFixture[str], device: str
) -> None:
    error = refused(device, "capture")
    assert error.problem.startswith("There is no sound card ")
    assert "`card.capture`" in error.remedy
    assert capfd.readouterr().err == ""  # ALSA's own messages are suppressed


def test_a_busy_card_is_reported_as_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with card_of(tmp_path, 16_000, monkeypatch) as card:
        card.set_busy(True)
        error = refused("sim", "playback")
        assert error.problem == 'The sound card "sim" is in use.'
        assert error.errno == errno.EBUSY
        card.set_busy(False)
        assert opened("sim", "playback").rate_hz == 16_000


def test_missing_permission_names_the_group_audio() -> None:
    """Root may open any card, so this test calls the function that words the error."""
    error = _open_error("hw:1", "capture", os.strerror(errno.EACCES))
    assert error.problem == 'Opening the sound card "hw:1" is not permitted.'
    assert "group audio" in error.remedy


@pytest.mark.parametrize("direction", ["capture", "playback"])
def test_a_card_unplugged_with_less_than_a_period_left_is_reported_as_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, direction: Direction
) -> None:
    with (
        card_of(tmp_path, 16_000, monkeypatch) as card,
        open_stream("sim", direction, period_ms=100, periods=3) as stream,
    ):
        stream.start()
        card.unplug()
        # A caller that reads the position first (CardClock) gets the last one.
        assert 0 <= stream.avail() < stream.period_frames
        poller = select.poll()
        stream.register(poller)
        events = poller.poll(5_000)
        with pytest.raises(CardError, match=r'"sim" was lost \(No such device\)'):
            stream.is_ready(events)
