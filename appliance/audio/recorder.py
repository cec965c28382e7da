"""Records a few seconds of the microphone while the box does not run."""

from __future__ import annotations

import select
import time
from collections.abc import Callable

import numpy as np

from appliance.audio.alsa import AlsaStream, open_stream
from appliance.audio.cards import device
from appliance.audio.sample_format import Blocks, Decimator
from appliance.errors import CardError
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from appliance.settings import CardSettings

_SETTLE_S = 0.25  # discarded: the switch-on transient of the microphone
_STALLED_S = 2.0


def record(card: CardSettings, seconds: float, started: Callable[[], None]) -> Samples:
    """Record int16[seconds × 16 kHz]. Calls `started` when the recording starts.

    Raises CardError when the card cannot be opened (the running box may have it open), drops out or
    stalls.
    """
    name = device(card, "capture")
    with open_stream(
        name, "capture", period_ms=card.period_ms, periods=card.periods,
        rate_hz=card.rate_hz, channels=card.channels,
    ) as stream:  # fmt: skip
        return read_from(stream, name, seconds, started)


def read_from(
    stream: AlsaStream, name: str, seconds: float, started: Callable[[], None]
) -> Samples:
    """As `record`, from an open stream of the card `name`."""
    poller = select.poll()
    stream.register(poller)
    # A period of the card need not be a whole number of 16 kHz samples; a block is.
    decimate, blocks = Decimator(stream.factor), Blocks(BLOCK_FRAMES * stream.factor)
    stream.start()
    skip, wanted = int(_SETTLE_S * RATE_HZ), int(seconds * RATE_HZ)
    recorded: list[Samples] = []
    frames = 0
    announced = False
    last_period_s = time.monotonic()
    while frames < skip + wanted:
        poller.poll(20)
        while (ready := stream.avail()) < 0 or ready >= stream.period_frames:
            period = stream.read() if ready >= 0 else None
            if period is None:
                raise CardError(f'The sound card "{name}" dropped out.', "Try again.")
            last_period_s = time.monotonic()
            for block in blocks(period):
                recorded.append(decimate(block))
                frames += len(recorded[-1])
        if frames >= skip and not announced:
            announced = True
            started()
        if time.monotonic() - last_period_s > _STALLED_S:
            raise CardError(f'The sound card "{name}" gives no sound.',
                            "`interlude check` looks at it more closely.")  # fmt: skip
    return np.concatenate(recorded)[skip : skip + wanted]
