"""Levels of owner and box for the page: takes blocks of 5 ms, returns a SoundLevels every 200 ms.

It computes nothing while it is switched off.
"""

from __future__ import annotations

import math

import numpy as np

from appliance.messages.viewing import LEVEL_MS, LEVELS, SILENCE_DB, SoundLevels
from appliance.pcm import RATE_HZ, Samples

LEVEL_FRAMES = LEVEL_MS * RATE_HZ // 1000
_FULL_SCALE = 32768.0**2


class LevelMeter:
    """Measures while `on`, that is, while a page is open."""

    def __init__(self) -> None:
        self._on = False
        self._owner_energy = self._box_energy = 0.0  # energy of the level under way
        self._frames = 0
        self._index = 0
        self._levels: list[tuple[int, int]] = []

    @property
    def on(self) -> bool:
        return self._on

    @on.setter
    def on(self, on: bool) -> None:
        self._on = on
        self._reset()

    def process(self, owner: Samples, box: Samples, index: int) -> SoundLevels | None:
        """Add a block of each voice, which starts at sample `index` of the card."""
        if not self._on:
            return None
        if self._frames == 0 and not self._levels:
            self._index = index
        self._owner_energy += _energy(owner)
        self._box_energy += _energy(box)
        self._frames += len(owner)
        if self._frames < LEVEL_FRAMES:
            return None
        self._levels.append(
            (_decibels(self._owner_energy, self._frames), _decibels(self._box_energy, self._frames))
        )
        self._owner_energy = self._box_energy = 0.0
        self._frames = 0
        if len(self._levels) < LEVELS:
            return None
        owners, boxes = zip(*self._levels, strict=True)
        self._levels.clear()
        return SoundLevels(self._index, owners, boxes)

    def _reset(self) -> None:
        self._owner_energy = self._box_energy = 0.0
        self._frames = 0
        self._levels.clear()


def _energy(samples: Samples) -> float:
    wave = samples.astype(np.float32)
    return float(np.dot(wave, wave))


def _decibels(energy: float, frames: int) -> int:
    relative = energy / frames / _FULL_SCALE
    return max(SILENCE_DB, min(0, round(10 * math.log10(relative)))) if relative > 0 else SILENCE_DB
