"""The end of a sound that has just had its verdict: a last syllable or consonant, reverberation.

In: the loudest level of that sound, and the levels of the blocks after it. Out: whether a block
still belongs to it.
"""

from __future__ import annotations

from appliance.pcm import BLOCK_FRAMES, RATE_HZ

# Below the peak of a voice: its unstressed syllables, and the burst of a "t" or "k" after a closure
# of 50 to 100 ms. A word to the box is as loud as the murmur before it, within some 10 dB.
_VOICE_DB = 13.0
_NOISE_DB = 25.0  # below the peak of a noise: only its reverberation
_ABOVE_DB = 3.0  # above the peak, while the sound that was judged goes on: "oh, really"
_HOLD_BLOCKS = RATE_HZ // 5 // BLOCK_FRAMES  # 200 ms
_DECAY_DB = 0.3  # a block after that: 60 dB a second, a room with RT60 1 s


class SoundTail:
    """The level up to which what is heard belongs to the sound that was judged."""

    def __init__(self) -> None:
        self._db = self._ended_db = -100.0
        self._hold = 0

    def start(self, peak_db: float, *, voice: bool, ended: bool) -> None:
        """A sound with this loudest block, dB full scale, has had its verdict. `ended`: it was no
        longer heard by then; else it may go on for twice as long."""
        self._ended_db = peak_db - (_VOICE_DB if voice else _NOISE_DB)
        self._db = self._ended_db if ended else peak_db + _ABOVE_DB
        self._hold = _HOLD_BLOCKS if ended else 2 * _HOLD_BLOCKS

    def covers(self, energy_db: float) -> bool:
        """Whether the next block belongs to that sound; call it for each block after it."""
        covered = energy_db < self._db
        if self._hold:
            self._hold -= 1
        else:
            self._db = min(self._db, self._ended_db) - _DECAY_DB
        return covered
