"""Tracks the room's noise floor by minimum statistics (R. Martin, 2001) of 5 ms energies in dB."""

from __future__ import annotations

from collections import deque

LOWEST_DB = -70.0  # floor of quieter rooms, so that the gate does not fire at inaudible sound
DIGITAL_SILENCE_DB = -95.0  # below it the microphone is muted, and the block is ignored
_SMOOTHING = 0.15  # of a block's energy in the smoothed one: about 30 ms
_BLOCKS = 40  # in a window of minima, 200 ms
_WINDOWS = 8  # minima: a new steady noise is learned within 1.6 s
_BIAS_DB = 1.0  # the minimum of smoothed noise is about so far below its mean


class NoiseFloor:
    """`db` falls within tens of milliseconds, rises within 1.6 s, and never rises while frozen."""

    def __init__(self) -> None:
        self.db = LOWEST_DB
        self._smooth = LOWEST_DB
        self._minima: deque[float] = deque([LOWEST_DB] * _WINDOWS, maxlen=_WINDOWS)
        self._window = 0.0
        self._blocks = 0
        self._first = True

    def update(self, energy_db: float, frozen: bool) -> None:
        """Add a block's energy; `frozen` while the owner or the box speaks."""
        first, self._first = self._first, False
        if energy_db < DIGITAL_SILENCE_DB:
            return
        if first:  # start at the level of the first block; the floor falls from there at once
            self.accept_noise(energy_db)
        self._smooth += _SMOOTHING * (energy_db - self._smooth)
        smooth = self._smooth
        if smooth + _BIAS_DB < self.db:
            self.db = max(LOWEST_DB, smooth + _BIAS_DB)
        if frozen:
            return
        self._window = min(self._window, smooth)
        self._blocks += 1
        if self._blocks >= _BLOCKS:
            self._minima.append(self._window)
            self._blocks, self._window = 0, 0.0
            self.db = max(LOWEST_DB, min(self._minima) + _BIAS_DB)

    def accept_noise(self, db: float) -> None:
        """Raise the floor to `db`, the level of a sound that turned out to be no voice."""
        if db <= self.db:
            return
        self.db = db
        self._smooth = db
        self._minima.extend([db - _BIAS_DB] * _WINDOWS)
        self._blocks, self._window = 0, 0.0
