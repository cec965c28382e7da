"""The format of sound inside the box: int16, mono, 16 kHz, in blocks of 5 ms. Constants only.

Separate from pcm.py, so that a part without sound does not load numpy, which takes 15 MiB and a
third of the part's start.
"""

from __future__ import annotations

RATE_HZ = 16_000  # of all sound inside the box; capture and playback convert the card's rate
BLOCK_FRAMES = RATE_HZ * 5 // 1000  # capture, playback and the listener process 5 ms at a time
FULL_SCALE = 32768  # of int16: the amplitude that 0 dBFS stands for
AUDIBLE = 33  # a sample of −60 dBFS: benches and tests take smaller ones for silence
