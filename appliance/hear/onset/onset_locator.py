"""Onset localisation: finds the block in which a detected sound began, in the last 100 ms."""

from __future__ import annotations

import numpy as np

from appliance.hear.onset.frontend import AudioBlock
from appliance.pcm import BLOCK_FRAMES

_BLOCKS = 20  # 100 ms: how far before its detection a sound may have begun
_SOUND_DB = -3.0  # below what stands out: a sound all the same, if one that stands out follows


class OnsetLocator:
    """Positions are samples on the listener's own count."""

    def __init__(self) -> None:
        self._energies_db = np.full(_BLOCKS, -100.0)
        self._excesses_db = np.full(_BLOCKS, -100.0)
        self._now = 0

    def push(self, block: AudioBlock) -> None:
        place = self._now // BLOCK_FRAMES % _BLOCKS
        self._energies_db[place], self._excesses_db[place] = block.energy_db, block.excess_db
        self._now += BLOCK_FRAMES

    def onset(self) -> int:
        """Where the sound that is heard now began: back to the last block that was mere noise."""
        newest = self._now // BLOCK_FRAMES - 1
        blocks, most = 1, min(_BLOCKS, newest)
        while blocks < most and self._excesses_db[(newest - blocks) % _BLOCKS] > _SOUND_DB:
            blocks += 1
        return self._now - blocks * BLOCK_FRAMES

    def median_db(self) -> float:
        """The median energy of these 100 ms, dB full scale above 120 Hz."""
        return float(np.median(self._energies_db))
