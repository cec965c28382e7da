"""The noise floor of the room, by minimum statistics (R. Martin, 2001) over 5 ms energies in dB."""

from __future__ import annotations

from collections import deque

LOWEST_DB = -70.0  # quieter rooms count as this: the gate must not fire at what nobody can hear
DIGITAL_SILENCE_DB = -95.0  # a muted microphone says nothing about the room
_SMOOTHING = 0.15  # of a block's energy in the smoothed one: about 30 ms
_BLOCKS = 40  # in a window of minima, 200 ms
_WINDOWS = 8  # minima kept: a new steady noise is learned within 1.6 s even if nothing helps
_BIAS_DB = 1.0  # the minimum of smoothed noise lies about that much under its mean


class NoiseFloor:
    """`db` falls within tens of milliseconds, rises within 1.6 s, and never rises while frozen."""

    def __init__(self) -> None:
        self.db = LOWEST_DB
        self._smooth = LOWEST_DB
        self._minima: deque[float] = deque([LOWEST_DB] * _WINDOWS, maxlen=_WINDOWS)
        self._window = 0.0
        self._blocks = 0
        self._new = True

    def update(self, energy_db: float, frozen: bool) -> None:
        """One block's energy; `frozen` while somebody speaks, the owner or the box."""
        new, self._new = self._new, False
        if energy_db < DIGITAL_SILENCE_DB:
            return
        if new:  # the very first block is taken for the room: it falls from there at once
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
        """Sound of level `db` turned out to be no voice: that is what the room is like now."""
        if db <= self.db:
            return
        self.db = db
        self._smooth = db
        self._minima.extend([db - _BIAS_DB] * _WINDOWS)
        self._blocks, self._window = 0, 0.0
