"""WebRTC's audio processing in front of a program, as browsers and livekit's console have it.

In: blocks of 5 ms of the microphone and of the loudspeaker. Out: every second time 10 ms without
the echo: AEC3, noise suppression, high pass and gain control.
"""

from __future__ import annotations

import numpy as np
from livekit import rtc

from appliance.sound_format import RATE_HZ
from lab.peers.pipe import Samples

DELAY_MS = 40  # by which the echo is late in the simulated room: its echo comes in chunks of 40 ms


class EchoFront:
    """All stages are on, at 16 kHz, and the delay is told; the loudspeaker's signal is exact."""

    def __init__(self) -> None:
        self._stages = rtc.AudioProcessingModule(
            echo_cancellation=True, noise_suppression=True, high_pass_filter=True,
            auto_gain_control=True,
        )  # fmt: skip
        self._mic: list[Samples] = []
        self._played: list[Samples] = []

    def process(self, mic: Samples, played: Samples) -> Samples | None:
        """int16[80] of each → int16[160], or None after the first block of two."""
        self._mic.append(mic)
        self._played.append(played)
        if len(self._mic) < 2:
            return None
        near, far = (_frame(np.concatenate(blocks)) for blocks in (self._mic, self._played))
        self._mic, self._played = [], []
        self._stages.process_reverse_stream(far)
        self._stages.set_stream_delay_ms(DELAY_MS)
        self._stages.process_stream(near)
        return np.frombuffer(near.data, np.int16).copy()


def _frame(samples: Samples) -> rtc.AudioFrame:
    return rtc.AudioFrame(bytearray(samples.tobytes()), RATE_HZ, 1, len(samples))
