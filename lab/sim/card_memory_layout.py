"""The layout of the software sound card's shared memory, the same as in hw/simcard/simcard.h.

A test compiles that header and compares its sizes and offsets with these.
"""

from __future__ import annotations

import numpy as np

MAGIC = int.from_bytes(b"SIMCARD1", "little")
RING_FRAMES = 1 << 22  # 87 s at 48 kHz, 262 s at 16 kHz
MAX_BUFFER_FRAMES = 32768  # largest ALSA buffer: samples are written at most so far ahead of now
MAX_TAPS = 8192
EVENTS = 4096
RATES_HZ = range(8000, 96001)
# Largest distance of an index from now: beyond it, its place in the ring is still in use.
REACH_FRAMES = RING_FRAMES - 2 * MAX_BUFFER_FRAMES

EVENT = np.dtype(
    [
        ("serial", "u8"),
        ("time_ns", "i8"),
        ("index", "i8"),
        ("frames", "i8"),
        ("stream", "u4"),
        ("kind", "u4"),
    ],
    align=True,
)
PATH = np.dtype(
    [
        ("serial", "u4"),
        ("checksum", "u4"),
        ("taps", "i4"),
        ("delay_frames", "i4"),
        ("gain", "f4"),
        ("drive", "f4"),
        ("h", "f4", MAX_TAPS),
    ],
    align=True,
)
NEAR = np.dtype([("sample", "f4"), ("lap", "u4")], align=True)
LAYOUT = np.dtype(
    [
        ("magic", "u8"),
        ("origin_ns", "i8"),
        ("rate_hz", "u4"),
        ("granularity_frames", "u4"),
        ("output_fifo_frames", "i4"),
        ("input_fifo_frames", "i4"),
        ("plug_serial", "u4"),
        ("busy", "u4"),
        ("play_end", "i8"),
        ("capture_end", "i8"),
        ("event_count", "u8"),
        ("path", PATH),
        ("events", EVENT, EVENTS),
        ("loudspeaker", "u4", RING_FRAMES),
        ("microphone", "u4", RING_FRAMES),
        ("near_end", NEAR, RING_FRAMES),
    ],
    align=True,
)
