"""Measures the time from the Speak message to the first sample in the ring, with espeak-ng.

python -m tests.voice.first_sample [COUNT]
"""

from __future__ import annotations

import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from tests.voice.rig import Rig

SENTENCES = ("Yes.", "Good morning.", "It is half past nine.", "I do not know that.")


def main(count: int = 60) -> None:
    """Print the percentiles over `count` answers of one sentence."""
    started_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Rig(Path(folder)) as rig:
        print(f"start of the process to SpeakerReady: {time.monotonic() - started_s:.2f} s")
        took_ms = []
        for turn in range(1, count + 1):
            at_ns = time.monotonic_ns()
            rig.say(turn, SENTENCES[turn % len(SENTENCES)])
            rig.until(partial(rig.ended, turn))
            first = next(slot for slot in rig.slots if slot.stream == turn and len(slot.samples))
            took_ms.append((first.stamp_ns - at_ns) / 1e6)
    p50, p95, p99 = np.percentile(took_ms, [50, 95, 99])
    print(f"first sample: p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms, n {count}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
