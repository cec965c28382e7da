"""Onset localisation: finds the block, within 100 ms, in which a detected sound began."""

from __future__ import annotations

import numpy as np

from appliance.hear.onset.frontend import AudioBlock
from appliance.pcm import BLOCK_FRAMES

_BLOCKS = 20  # 100 ms: the longest time from a sound's start to its detection
_SOUND_DB = -3.0  # excess from which a block belongs to the louder sound that follows it


class OnsetLocator:
    """Keeps the levels of the last 100 ms. Positions count the samples of the listener."""

    def __init__(self) -> None:
        self._energies_db = np.full(_BLOCKS, -100.0)
        self._excesses_db = np.full(_BLOCKS, -100.0)
        self._now = 0

    def push(self, block: AudioBlock) -> None:
        index = self._now // BLOCK_FRAMES % _BLOCKS
        self._energies_db[index], self._excesses_db[index] = block.energy_db, block.excess_db
        self._now += BLOCK_FRAMES

    def onset(self) -> int:
        """First sample of the present sound: after the last block that was only noise."""
        newest = self._now // BLOCK_FRAMES - 1
        blocks, limit = 1, min(_BLOCKS, newest)
        while blocks < limit and self._excesses_db[(newest - blocks) % _BLOCKS] > _SOUND_DB:
            blocks += 1
        return self._now - blocks * BLOCK_FRAMES

    def median_db(self) -> float:
        """The median energy of these 100 ms, dB full scale above 120 Hz."""
        return float(np.median(self._energies_db))
