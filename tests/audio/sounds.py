"""Sounds for the simulated microphone, and their position in a ring."""

from __future__ import annotations

from typing import Any

import numpy as np

from appliance.pcm import Samples
from appliance.runtime.ipc.ring import RingSlot
from tests.audio.rig import RATE_HZ, Rig, noise


def said(rig: Rig, sound: Samples) -> int:
    """Play a sound to the microphone and wait until it is in the ring. Returns its true index."""
    at = rig.card.now() + rig.card.rate_hz // 20
    rig.card.add_sound(at, sound)
    factor = rig.card.rate_hz // RATE_HZ
    index = rig.origin + at // factor
    rig.hear(index + len(sound) // factor + 200)
    return index


def joined(slots: list[RingSlot], first: int, last: int) -> Samples:
    """The ring's samples from index `first` to `last`, with zeros in gaps."""
    out = np.zeros(last - first, np.int16)
    for slot in slots:
        at, n = slot.index - first, len(slot.samples)
        low, high = max(0, -at), min(n, len(out) - at)
        if low < high:
            out[at + low : at + high] = slot.samples[low:high]
    return out


def shift_of(found: Samples, sound: Samples, at: int) -> int:
    """The number of samples by which `sound` is later in `found` than `at`."""
    scores = np.correlate(found.astype(np.float64), sound.astype(np.float64), "valid")
    return int(np.argmax(scores)) - at


# A buffer of 80 ms for tests that do not measure latency: a busy machine may delay them for long.
DEEP: dict[str, Any] = {"period_ms": 10, "periods": 8, "reserve_ms": 70}


def smooth(frames: int, factor: int = 1) -> Samples:
    """Noise below 4 kHz at 16 kHz × factor, which rate conversion leaves unchanged."""
    width = 4 * factor
    raw = noise(frames * factor).astype(np.float64)
    return np.convolve(raw, np.hanning(width + 2)[1:-1] / width, "same").astype(np.int16)
