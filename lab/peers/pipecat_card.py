"""A sound card in simulated time, with the part of PyAudio's interface that pipecat calls.

In: blocks of the microphone; chunks that pipecat writes. Out: chunks for its callback; blocks that
sound. A write returns when the card's buffer has taken the whole chunk, as a blocking one does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np

from appliance.sound_format import BLOCK_FRAMES, RATE_HZ
from lab.peers.pipe import Samples
from lab.peers.simulated_time import BEGAN_S, SimulatedLoop

CARD_FRAMES = 640  # the card's buffer: 40 ms, as `article_device` has it
NOTHING = np.zeros(0, np.int16)


class OutputStream:
    """A stream for playback."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop
        self._waiting = NOTHING
        self._runs_dry = 0  # sample at which all that was written has sounded
        self._now = 0

    def write(self, data: bytes) -> asyncio.Future[None]:
        """Take a chunk of int16; the future is done when it fits into the card's buffer."""
        chunk = np.frombuffer(data, np.int16)
        self._waiting = np.concatenate([self._waiting, chunk])
        self._runs_dry = max(self._runs_dry, self._now) + len(chunk)
        written: asyncio.Future[None] = self._loop.create_future()
        fits_s = BEGAN_S + (self._runs_dry - CARD_FRAMES) / RATE_HZ
        self._loop.call_at(fits_s, _finish, written)
        return written

    def read(self, at: int) -> tuple[Samples, bool]:
        """The block int16[80] that sounds from sample `at` on, and whether it was written."""
        self._now = at + BLOCK_FRAMES
        block, self._waiting = self._waiting[:BLOCK_FRAMES], self._waiting[BLOCK_FRAMES:]
        return np.pad(block, (0, BLOCK_FRAMES - len(block))), len(block) > 0

    def start_stream(self) -> None:
        """The stream always runs."""

    def stop_stream(self) -> None:
        """Likewise."""

    def close(self) -> None:
        """There is nothing to release."""


class InputStream:
    """A stream of the microphone; its callback gets chunks of the size it asked for."""

    def __init__(self, callback: Callable[..., Any], frames: int) -> None:
        self._callback, self._frames = callback, frames
        self._waiting = NOTHING

    def push(self, samples: Samples) -> None:
        self._waiting = np.concatenate([self._waiting, samples])
        while len(self._waiting) >= self._frames:
            chunk, self._waiting = self._waiting[: self._frames], self._waiting[self._frames :]
            self._callback(chunk.tobytes(), self._frames, None, 0)

    def start_stream(self) -> None:
        """The stream always runs."""

    def stop_stream(self) -> None:
        """Likewise."""

    def close(self) -> None:
        """There is nothing to release."""


class Card:
    """Stands for `pyaudio.PyAudio`."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self.output = OutputStream(loop)
        self.mic: InputStream | None = None  # until it is opened

    def get_format_from_width(self, width: int) -> int:
        return width

    def open(
        self, *, input: bool = False, frames_per_buffer: int = 0,  # noqa: A002  # PyAudio's names
        stream_callback: Callable[..., Any] | None = None, **_: Any,
    ) -> InputStream | OutputStream:  # fmt: skip
        if not input:
            return self.output
        assert stream_callback is not None
        self.mic = InputStream(stream_callback, frames_per_buffer)
        return self.mic


def _finish(written: asyncio.Future[None]) -> None:
    if not written.done():  # its caller may have been cancelled
        written.set_result(None)
