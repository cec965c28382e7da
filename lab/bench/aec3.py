"""Wraps WebRTC's AEC3, for reference only; the only module of the bench that uses `livekit`.

It has the interface of the box's cancellers, but works in blocks of 10 ms, so its output is one
step of 5 ms late.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

from appliance.hear.aec.path_estimate import Floats
from appliance.pcm import RATE_HZ, Samples


def installed() -> bool:
    return importlib.util.find_spec("livekit") is not None


class Aec3:
    """AEC3 with its default configuration; the binding cannot disable the residual suppressor."""

    active = True
    path_changes = 0
    late_reverb_db = -100.0
    misalignment_db = -100.0
    knows_echo = False

    def __init__(self) -> None:
        """Raises ImportError if `livekit` is not installed."""
        rtc: Any = importlib.import_module("livekit.rtc")  # no types where it is not installed
        apm: Any = importlib.import_module("livekit.rtc.apm")
        self._apm = apm.AudioProcessingModule(echo_cancellation=True)
        self._frame = rtc.AudioFrame
        self._mic: list[Samples] = []
        self._played: list[Samples] = []
        self._left: list[Samples] = []

    def cancel_echo(
        self, mic: Samples, played: Samples, clipped: Floats | None = None, *, mic_off: bool = False
    ) -> Samples:
        self._mic.append(mic)
        self._played.append(played)
        if len(self._mic) == 2:
            self._block(np.concatenate(self._mic), np.concatenate(self._played))
            self._mic, self._played = [], []
        return self._left.pop(0) if self._left else np.zeros_like(mic)

    def _block(self, mic: Samples, played: Samples) -> None:
        far, near = (self._frame(bytearray(x.tobytes()), RATE_HZ, 1, len(x)) for x in (played, mic))
        self._apm.process_reverse_stream(far)
        self._apm.process_stream(near)
        left = np.frombuffer(near.data, np.int16).copy()
        self._left += [left[: len(left) // 2], left[len(left) // 2 :]]
