"""A stage for one test: a folder in memory with simulated cards, and functions to play, capture and
wait."""

from __future__ import annotations

import ctypes
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import alsaaudio
import numpy as np
import pytest

from appliance.pcm import Samples
from lab.sim.alsa_plugin import alsa_environment
from lab.sim.card_events import CardEvent, CardEventKind, StreamDirection
from lab.sim.simulated_card import SoundCard

PLAYBACK, CAPTURE = 0, 1


class Stage:
    """One card, the ALSA device "sim". The buffers are so deep that no load causes an xrun in a
    test."""

    def __init__(self, folder: Path, card: SoundCard) -> None:
        self.folder = folder
        self.card = card
        self.first_read = b""  # what the read that starts the capture may already return

    def open(
        self, direction: int, *, period: int = 512, periods: int = 64, channels: int = 1
    ) -> Any:
        """A non-blocking PCM, opened like the product's."""
        return alsaaudio.PCM(
            direction,
            alsaaudio.PCM_NONBLOCK,
            device="sim",
            rate=self.card.rate_hz,
            channels=channels,
            format=alsaaudio.PCM_FORMAT_S16_LE,
            periodsize=period,
            periods=periods,
        )

    def play(self, samples: Samples, **how: int) -> tuple[Any, int]:
        """Queue all of `samples` in one write. Returns the PCM and the index of the first frame."""
        pcm = self.open(PLAYBACK, **how)
        assert pcm.write(samples.tobytes()) == len(samples) // how.get("channels", 1)
        return pcm, self.event(StreamDirection.PLAYBACK, CardEventKind.START).index

    def capture(self, **how: int) -> tuple[Any, int]:
        """Start a capture. Returns the PCM and the index of its first frame."""
        pcm = self.open(CAPTURE, **how)
        self.first_read = pcm.read()[1]
        return pcm, self.event(StreamDirection.CAPTURE, CardEventKind.START).index

    def read_until(self, pcm: Any, index: int) -> Samples:
        """Wait until the card is past `index`, then return what `pcm` captured and was not read
        before."""
        self.wait(index + 1)
        blocks = [np.frombuffer(self.first_read, np.int16)]
        self.first_read = b""
        while (read := pcm.read())[0] > 0:
            blocks.append(np.frombuffer(read[1], np.int16))
        return np.concatenate(blocks)

    def wait(self, index: int) -> None:
        """Wait until the card has reached `index`."""
        while self.card.now() < index:
            time.sleep(max(0.001, (self.card.time_of(index) - time.monotonic_ns()) / 1e9))

    def event(self, stream: StreamDirection, kind: CardEventKind) -> CardEvent:
        """The latest event of this kind."""
        return [e for e in self.card.events() if (e.stream, e.kind) == (stream, kind)][-1]

    def kinds(self, stream: StreamDirection) -> list[CardEventKind]:
        """The kinds of events of one direction, in order."""
        return [event.kind for event in self.card.events() if event.stream is stream]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory, because a card on a disk would wait for the disk."""
    shm = Path("/dev/shm")  # noqa: S108 - the kernel's own tmpfs
    path = Path(tempfile.mkdtemp(prefix="simcard-", dir=shm if shm.is_dir() else None))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def alsa_config(folder: Path, simcard_library: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Configure the ALSA device "sim". Returns the path of its card, which does not exist yet."""
    path = folder / "card"
    for name, value in alsa_environment(folder, {"sim": path}, simcard_library).items():
        monkeypatch.setenv(name, value)
    return path


@pytest.fixture
def stage(folder: Path, alsa_config: Path) -> Iterator[Callable[..., Stage]]:
    """Create the card: `stage(rate_hz, ...)`, with the arguments of `SoundCard.create`."""
    cards = []

    def make(rate_hz: int = 16000, **arguments: Any) -> Stage:
        cards.append(SoundCard.create(alsa_config, rate_hz, **arguments))
        return Stage(folder, cards[-1])

    yield make
    for card in cards:
        card.close()


class Alsa:
    """libasound through ctypes, for what pyalsaaudio lacks: error numbers, delay and rewind."""

    def __init__(self) -> None:
        self.lib = ctypes.CDLL("libasound.so.2")
        for name in ("writei", "rewind", "rewindable", "avail"):
            getattr(self.lib, f"snd_pcm_{name}").restype = ctypes.c_long
        self._open: list[ctypes.c_void_p] = []

    def open(self, direction: int = PLAYBACK, device: str = "sim") -> tuple[int, ctypes.c_void_p]:
        """The result of snd_pcm_open, and the handle."""
        pcm = ctypes.c_void_p()
        result = self.lib.snd_pcm_open(ctypes.byref(pcm), device.encode(), direction, 0)
        if result == 0:
            self._open.append(pcm)
        return result, pcm

    def set_up(self, pcm: ctypes.c_void_p, rate_hz: int, channels: int = 1) -> int:
        """The result of snd_pcm_set_params: S16_LE, interleaved, no resampling, 0.5 s."""
        s16_le, interleaved = 2, 3
        result = self.lib.snd_pcm_set_params(
            pcm, s16_le, interleaved, channels, rate_hz, 0, 500_000
        )
        assert isinstance(result, int)
        return result

    def write(self, pcm: ctypes.c_void_p, samples: Samples) -> int:
        """The result of snd_pcm_writei for mono samples."""
        data = samples.tobytes()
        result = self.lib.snd_pcm_writei(pcm, data, ctypes.c_ulong(len(samples)))
        assert isinstance(result, int)
        return result

    def delay(self, pcm: ctypes.c_void_p) -> int:
        """The number of frames until a frame that is written now is audible."""
        frames = ctypes.c_long()
        assert self.lib.snd_pcm_delay(pcm, ctypes.byref(frames)) == 0
        return frames.value

    def close(self) -> None:
        """Close all open PCMs."""
        while self._open:
            self.lib.snd_pcm_close(self._open.pop())


@pytest.fixture
def alsa() -> Iterator[Alsa]:
    """libasound through ctypes; its PCMs are closed at the end."""
    library = Alsa()
    yield library
    library.close()


@pytest.fixture
def ramp() -> Samples:
    """One second at 16 kHz in which adjacent samples differ and no sample is zero."""
    return (np.arange(16000) + 1).astype(np.int16)
