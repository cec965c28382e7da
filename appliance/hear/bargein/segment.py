"""Acoustic measures of one sound since its onset: duration, level, voicing."""

from __future__ import annotations

import math

import numpy as np

from appliance.hear.onset.frontend import AudioBlock
from appliance.pcm import BLOCK_FRAMES, RATE_HZ

BLOCK_MS = BLOCK_FRAMES * 1000 // RATE_HZ
_ACTIVE_OVER_FLOOR_DB = 8.0
_ACTIVE_UNDER_PEAK_DB = 25.0  # softer blocks are reverberation


class Segment:
    """Measures of a sound since its onset; the verdict's table of rules uses these names.

    peak_db    its loudest block, dB full scale above 120 Hz
    span_ms    from its detection to its last active block, gaps included
    quiet_ms   time since its last active block
    tone_hz    root-mean-square frequency of its sound: 300 to 550 for hums, 700 to 1400 for words
    voiced     mean probability of speech in active blocks
    louder_db  level above the owner's usual level; 0 while that is unknown
    """

    def __init__(self, usual_db: float | None) -> None:
        self._usual_db = usual_db
        self._age_ms = 0
        self.peak_db = -100.0
        self._active_blocks = 0
        self._energy = 1e-12
        self._slope = 0.0
        self._hops = 0
        self._probability = 0.0
        self.span_ms = 0

    def update(self, block: AudioBlock) -> None:
        self._age_ms += BLOCK_MS
        self.peak_db = max(self.peak_db, block.energy_db)
        active_db = max(block.floor_db + _ACTIVE_OVER_FLOOR_DB,
                             self.peak_db - _ACTIVE_UNDER_PEAK_DB)  # fmt: skip
        if block.energy_db < active_db:
            return
        self.span_ms = self._age_ms
        slope = np.diff(block.high_passed)
        self._energy += float(block.high_passed @ block.high_passed)
        self._slope += float(slope @ slope)
        self._active_blocks += 1
        if block.probability is not None:
            self._hops += 1
            self._probability += block.probability

    @property
    def quiet_ms(self) -> int:
        return self._age_ms - self.span_ms

    @property
    def tone_hz(self) -> float:
        return math.sqrt(self._slope / self._energy) * RATE_HZ / (2 * math.pi)

    @property
    def voiced(self) -> float:
        return self._probability / self._hops if self._hops else 0.5

    @property
    def level_db(self) -> float:
        """Mean energy of active blocks, dB full scale above 120 Hz."""
        return 10 * math.log10(self._energy / max(1, self._active_blocks * BLOCK_FRAMES))

    @property
    def louder_db(self) -> float:
        return 0.0 if self._usual_db is None else self.level_db - self._usual_db


_USUAL_WEIGHT = 0.7  # weight of the previous usual level at each utterance


def usual_after(usual_db: float | None, segment: Segment) -> float:
    """The owner's usual level, dB full scale above 120 Hz, updated with the utterance `segment`."""
    if usual_db is None:
        return segment.level_db
    return _USUAL_WEIGHT * usual_db + (1 - _USUAL_WEIGHT) * segment.level_db
