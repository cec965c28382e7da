"""[process] Microphone → ring `mic`, in slots of 5 ms at 16 kHz, each with its sample index.

It never waits for a reader: a reader that is too slow loses slots. While the floor's
`microphone_off` holds (mute, switch), it writes zeros to the ring in place of the samples.
"""

from __future__ import annotations

import select

import numpy as np

from appliance.audio.alsa import AlsaStream
from appliance.audio.card_clock import CardClock
from appliance.audio.hotplug import BEAT_S, StreamHousekeeping, keep_open
from appliance.audio.sample_format import Blocks, Decimator, conversion_delay
from appliance.messages.registry import Message
from appliance.pcm import BLOCK_FRAMES
from appliance.runtime.ipc.ring import RingWriter
from appliance.runtime.worker import Worker

_SILENCE = np.zeros(BLOCK_FRAMES, np.int16)


def main(work: Worker) -> None:
    mic = work.writer("mic")
    housekeeping = StreamHousekeeping(work, "capture", handle=_ignore)
    keep_open(work, "capture", housekeeping, lambda stream: _serve(work, stream, mic, housekeeping))


def _ignore(_: Message) -> None:
    """Capture handles no message itself; StreamHousekeeping answers StatusWanted."""


def _serve(
    work: Worker, stream: AlsaStream, mic: RingWriter, housekeeping: StreamHousekeeping
) -> None:
    """Read the card until the process is to stop. Raises CardError when the card is lost."""
    clock = CardClock(stream.factor, -conversion_delay(stream.factor))
    poller = select.poll()
    poller.register(work.stop_fd, select.POLLIN)
    stream.register(poller)
    block_frames = BLOCK_FRAMES * stream.factor
    while not work.stopping:
        decimate = Decimator(stream.factor)
        blocks = Blocks(block_frames)
        clock.start(stream.start(), work.floor.card_lead)
        taken = 0  # card frames written to the ring
        while not work.stopping:
            if stream.is_ready(poller.poll(BEAT_S * 1000)):
                available = stream.avail()
                while available >= stream.period_frames:
                    frames = stream.read()
                    if frames is None:
                        available = -1
                        break
                    available -= len(frames)
                    for block in blocks(frames):
                        samples = decimate(block)
                        mic.write(
                            _SILENCE if work.floor.microphone_off else samples,
                            index=clock.index(taken),
                        )
                        taken += block_frames
                    housekeeping.moved()
                if available < 0:
                    housekeeping.dropouts += 1
                    break  # restart the stream; readers see the gap as a jump of the index
            if housekeeping.poll():
                _publish_lead(work, stream, clock)


def _publish_lead(work: Worker, stream: AlsaStream, clock: CardClock) -> None:
    """Publish on the floor how far the card's count has drifted from CLOCK_MONOTONIC."""
    pair = stream.clock_pair()
    if pair is not None:
        clock.observe(pair)
    if clock.lead is not None:
        work.floor.card_lead = clock.lead
