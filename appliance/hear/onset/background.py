"""Levels that a room seldom exceeds: of all its sound, and of speech that is not meant for the box.

Such speech is a television's. In: levels of 5 ms blocks in dB. Out: running quantiles of them. A
noise floor knows only the pauses of a television, and only the fan of a kitchen.
"""

from __future__ import annotations

import copy

import numpy as np

_LOWEST_DB, _BINS = -100, 100  # of 1 dB
_EVERY_BLOCKS = 8  # between two looks at the whole
_LEAST_BLOCKS = 100  # before it says anything
# Of a block's weight while a sound is followed: it may well be the owner. What fills the remaining
# time too is not.
_FOLLOWED = 0.125
_HEAVY = 1e6


class LevelQuantile:
    """`db`: so large a `share` of the blocks lately was softer. -100 until that is known."""

    def __init__(self, share: float, memory_blocks: int) -> None:
        self.db = float(_LOWEST_DB)
        self._share, self._memory = share, memory_blocks
        self._counts = np.zeros(_BINS)
        self._weight = 1.0  # of a new block: it grows, so that the others shrink
        self._blocks = 0

    @property
    def known(self) -> bool:
        return self.db > _LOWEST_DB

    def update(self, level_db: float, followed: bool) -> None:
        """One block; `followed`: a sound that stood out is under way."""
        place = min(max(int(level_db) - _LOWEST_DB, 0), _BINS - 1)
        self._weight *= 1 + 1 / self._memory
        self._counts[place] += self._weight * (_FOLLOWED if followed else 1.0)
        self._blocks += 1
        if self._blocks % _EVERY_BLOCKS == 0:
            self._look()

    def _look(self) -> None:
        total = np.cumsum(self._counts)
        if total[-1] >= self._weight * _LEAST_BLOCKS:
            self.db = _LOWEST_DB + float(np.searchsorted(total, self._share * total[-1]))
        if self._weight > _HEAVY:
            self._counts /= self._weight
            self._weight = 1.0


_SPEECH = 0.5  # probability
_SPEECH_SHARE, _SPEECH_BLOCKS = 0.9, 6000  # more than a tenth of 30 s must be speech to count
# Who says something this short and then waits this long has asked something. No television waits.
# (One softer question, of three seconds, once filled the tenth, and the next word went unheard.)
_TURN_BLOCKS, _WAIT_BLOCKS = 1200, 400
_SYLLABLES_DB = 6.0  # its loudest syllables stand out by that much more
_PEAK_DECAY_DB = 0.1  # a block, 20 dB a second: from one syllable to the next a peak holds
# Under the peaks of the owner's speech. Single words of one speaker stay above it, a television at
# the other end of the room below.
_SOFTER_DB = 8.0
# Of the way at each utterance. A television may be taken for the owner, too, and must not make its
# own level the owner's before the owner has spoken again.
_LOUDER_COUNTS, _SOFTER_COUNTS, _SOFT_COUNTS = 0.85, 0.15, 0.03


class BackgroundSpeech:
    """Speech that goes on and on in the room and is not the owner's, such as a television's.

    db    of its loudest syllables; -100 if there is none
    soft  there is some, and what sounds now is too soft to be anything else
    """

    def __init__(self) -> None:
        self._levels = LevelQuantile(_SPEECH_SHARE, _SPEECH_BLOCKS)
        self._before = self._levels
        self._silent_blocks, self._turn_blocks = _WAIT_BLOCKS, 0
        self._peak_db = float(_LOWEST_DB)
        self._owner_db: float | None = None  # peaks of the owner's speech

    @property
    def db(self) -> float:
        return self._levels.db + _SYLLABLES_DB if self._levels.known else float(_LOWEST_DB)

    @property
    def soft(self) -> bool:
        return self._levels.known and self._too_soft(self._peak_db)

    def update(
        self, energy_db: float, probability: float, followed: bool, own: bool = False
    ) -> None:
        """One block's energy, and the probability that it is speech; `own`: it may be what is left
        of the box's voice, which is speech too, and says nothing of a television."""
        self._peak_db = max(energy_db, self._peak_db - _PEAK_DECAY_DB)
        heard = probability >= _SPEECH and not own
        self._follow(heard)
        speech_db = energy_db if heard else _LOWEST_DB
        self._levels.update(speech_db, followed and not self._too_soft(self._peak_db))

    def _follow(self, heard: bool) -> None:
        """A turn and the wait after it: what was known before the turn is what is known."""
        if heard and self._silent_blocks >= _WAIT_BLOCKS:
            self._before, self._turn_blocks = copy.deepcopy(self._levels), 0
        self._turn_blocks += 1
        self._silent_blocks = 0 if heard else self._silent_blocks + 1
        if self._silent_blocks == _WAIT_BLOCKS and self._turn_blocks < _TURN_BLOCKS + _WAIT_BLOCKS:
            self._levels = self._before

    def on_utterance(self, peak_db: float) -> None:
        """Something was taken for the owner; `peak_db`: its loudest block."""
        if self._owner_db is None:
            self._owner_db = peak_db
            return
        share = _LOUDER_COUNTS if peak_db > self._owner_db else _SOFTER_COUNTS
        share = _SOFT_COUNTS if self._too_soft(peak_db) else share
        self._owner_db += share * (peak_db - self._owner_db)

    def _too_soft(self, peak_db: float) -> bool:
        return self._owner_db is not None and peak_db < self._owner_db - _SOFTER_DB
