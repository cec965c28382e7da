"""What sound is inside the box: int16, one channel, 16 kHz, in blocks of 5 ms. Numbers alone.

Apart from pcm.py, so that a part without sound loads no numpy: 15 MiB, and a third of its start.
"""

from __future__ import annotations

RATE_HZ = 16_000  # of every sound inside the box; the card's own rate is converted at its border
BLOCK_FRAMES = RATE_HZ * 5 // 1000  # capture, playback and the listener work on 5 ms at a time
FULL_SCALE = 32768  # of int16: the amplitude that 0 dBFS stands for
AUDIBLE = 33  # a sample of −60 dBFS: what benches and tests call sound
