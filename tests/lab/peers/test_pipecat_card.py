"""The simulated sound card: blocking writes, an output that runs dry, chunks for the callback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest

from appliance.sound_format import BLOCK_FRAMES, RATE_HZ
from lab.peers.pipecat_card import CARD_FRAMES, Card, InputStream, OutputStream
from lab.peers.simulated_time import BEGAN_S, SimulatedLoop

CHUNK = np.ones(1600, np.int16)


@pytest.fixture
def loop() -> Iterator[SimulatedLoop]:
    made = SimulatedLoop()
    yield made
    made.close()


def test_a_write_returns_when_the_buffer_has_taken_it(loop: SimulatedLoop) -> None:
    card = Card(loop)
    output = card.open(output=True, rate=RATE_HZ)
    assert isinstance(output, OutputStream)
    written_ms: list[float] = []

    async def write() -> None:
        for _ in range(2):
            await output.write(CHUNK.tobytes())
            written_ms.append((loop.time() - BEGAN_S) * 1000)

    loop.start(write())
    for at in range(0, 4000, BLOCK_FRAMES):
        loop.run_to(BEGAN_S + at / RATE_HZ)
        block, sounds = output.read(at)
        # The writes began at 0 ms, and the first block was read then: 5 ms are lost to no one.
        assert sounds == (at < 2 * len(CHUNK))
        assert block.any() == sounds
    ahead_ms = CARD_FRAMES * 1000 / RATE_HZ
    assert written_ms == pytest.approx([100 - ahead_ms, 200 - ahead_ms])


def test_a_card_without_data_is_silent(loop: SimulatedLoop) -> None:
    output = Card(loop).output
    block, sounds = output.read(0)
    assert block.tolist() == [0] * BLOCK_FRAMES
    assert not sounds


def test_a_write_of_a_cancelled_caller_still_sounds(loop: SimulatedLoop) -> None:
    output = Card(loop).output
    written: asyncio.Future[None] = output.write(CHUNK.tobytes())
    written.cancel()
    loop.run_to(BEGAN_S + 1)
    assert output.read(0)[1]


def test_the_callback_gets_whole_chunks(loop: SimulatedLoop) -> None:
    chunks: list[bytes] = []
    mic = Card(loop).open(
        input=True, frames_per_buffer=320, stream_callback=lambda data, *_: chunks.append(data)
    )
    assert isinstance(mic, InputStream)
    sound = np.arange(800, dtype=np.int16)
    for at in range(0, len(sound), 160):
        mic.push(sound[at : at + 160])
    assert [len(chunk) for chunk in chunks] == [640, 640]
    assert b"".join(chunks) == sound[:640].tobytes()
