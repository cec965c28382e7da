"""Running quantiles of a room's levels, and of background speech, such as a television's.

In: levels of 5 ms blocks in dB. Out: levels that are seldom exceeded. A noise floor is not enough:
it follows only the pauses of a television, and only the fan in a kitchen.
"""

from __future__ import annotations

import copy

import numpy as np

_LOWEST_DB, _BINS = -100, 100  # bins of 1 dB
_EVERY_BLOCKS = 8  # between two computations of the quantile
_LEAST_BLOCKS = 100  # of weight before the first result, with the silence before the start
# Factor of a block's weight while a detected sound is under way, since it may be the owner. A sound
# that continues outside that time still counts.
_FOLLOWED_WEIGHT = 0.125
_HEAVY = 1e6


class LevelQuantile:
    """The level `db` below which a `share` of the recent blocks was; -100 until it is known."""

    def __init__(self, share: float, memory_blocks: int, silent_blocks: int = 0) -> None:
        """`silent_blocks`: blocks of silence that count as heard before the first block."""
        self.db = float(_LOWEST_DB)
        self._share, self._memory = share, memory_blocks
        self._counts = np.zeros(_BINS)
        self._counts[0] = silent_blocks
        self._weight = 1.0  # of a new block; it grows, so that older blocks count less
        self._blocks = 0

    @property
    def known(self) -> bool:
        return self.db > _LOWEST_DB

    def update(self, level_db: float, followed: bool) -> None:
        """Add a block; `followed`: a detected sound is under way."""
        index = min(max(int(level_db) - _LOWEST_DB, 0), _BINS - 1)
        self._weight *= 1 + 1 / self._memory
        self._counts[index] += self._weight * (_FOLLOWED_WEIGHT if followed else 1.0)
        self._blocks += 1
        if self._blocks % _EVERY_BLOCKS == 0:
            self._update_quantile()

    def _update_quantile(self) -> None:
        total = self._counts.cumsum()
        if total[-1] >= self._weight * _LEAST_BLOCKS:
            self.db = _LOWEST_DB + float(total.searchsorted(self._share * total[-1]))
        if self._weight > _HEAVY:
            self._counts /= self._weight
            self._weight = 1.0


_SPEECH = 0.5  # probability
_SPEECH_SHARE, _SPEECH_BLOCKS = 0.9, 6000  # it is background speech if it fills a tenth of 30 s
# So much silence counts as heard before the start: 2.5 s, and 30 s where an earlier listener ended.
# Without it the first words fill a tenth of what was heard, and an owner who calls again and again
# while the gate still waits for the canceller passes for a television until the answer has ended.
# With more, a television that is on when the box starts ends more answers
# (docs/benchmarks/staying-up.md).
_BEFORE_BLOCKS, _BEFORE_AGAIN_BLOCKS = 500, 6000
# Speech of less than 6 s with 2 s of silence after it counts as a question and is not added to the
# background: one softer question of 3 s could fill the tenth, and the next word would be missed.
_TURN_BLOCKS, _WAIT_BLOCKS = 1200, 400
_SYLLABLES_DB = 6.0  # level of its loudest syllables above the quantile
_PEAK_DECAY_DB = 0.1  # a block, 20 dB a second: holds a peak from one syllable to the next
# Below the peaks of the owner's speech. Single words of one speaker stay above this limit, a
# television at the other end of the room below it.
_SOFTER_DB = 8.0
# Share of the difference at each utterance. A television may be taken for the owner, too, and must
# not replace the owner's level before the owner has spoken again.
_LOUDER_COUNTS, _SOFTER_COUNTS, _SOFT_COUNTS = 0.85, 0.15, 0.03


class BackgroundSpeech:
    """Continuing speech in the room that is not the owner's, such as a television's.

    db    level of its loudest syllables; -100 if there is none
    soft  there is background speech, and the present sound is too soft to be the owner
    """

    def __init__(self, *, again: bool = False) -> None:
        """`again`: an earlier listener of this box has ended, perhaps within an answer."""
        before_blocks = _BEFORE_AGAIN_BLOCKS if again else _BEFORE_BLOCKS
        self._levels = LevelQuantile(_SPEECH_SHARE, _SPEECH_BLOCKS, before_blocks)
        self._levels_before = self._levels
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
        """Add a block's energy and its probability of speech. `own`: it may be residual echo of
        the box's voice, which does not count as background speech."""
        self._peak_db = max(energy_db, self._peak_db - _PEAK_DECAY_DB)
        is_speech = probability >= _SPEECH and not own
        self._track_turn(is_speech)
        speech_db = energy_db if is_speech else _LOWEST_DB
        self._levels.update(speech_db, followed and not self._too_soft(self._peak_db))

    def _track_turn(self, is_speech: bool) -> None:
        """Restore the levels from before a turn once it turns out to be a question."""
        if is_speech and self._silent_blocks >= _WAIT_BLOCKS:
            self._levels_before, self._turn_blocks = copy.deepcopy(self._levels), 0
        self._turn_blocks += 1
        self._silent_blocks = 0 if is_speech else self._silent_blocks + 1
        if self._silent_blocks == _WAIT_BLOCKS and self._turn_blocks < _TURN_BLOCKS + _WAIT_BLOCKS:
            self._levels = self._levels_before

    def on_utterance(self, peak_db: float) -> None:
        """Update the owner's level with an utterance; `peak_db`: its loudest block."""
        if self._owner_db is None:
            self._owner_db = peak_db
            return
        share = _LOUDER_COUNTS if peak_db > self._owner_db else _SOFTER_COUNTS
        share = _SOFT_COUNTS if self._too_soft(peak_db) else share
        self._owner_db += share * (peak_db - self._owner_db)

    def _too_soft(self, peak_db: float) -> bool:
        return self._owner_db is not None and peak_db < self._owner_db - _SOFTER_DB
