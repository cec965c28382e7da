"""Does what the head says sound like speech at all? Pure: frames in, what is wrong with them out.

No words are understood here. What it finds: a head that is silent, one that says the same sound
again and again, and one that does not come to an end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from appliance.pcm import Samples

# Of 80 ms.
QUIET_FRAMES = 25  # without energy, inside a sentence: the longest pause for a comma is a fifth
SAME_FRAMES = 10  # repeated: a long vowel of the teacher lasts four
LONGEST_PERIOD = 4  # frames of what repeats itself: a syllable
FRAMES_A_TOKEN = 18  # a token of Gemma's is a word at most, and the longest of them last 1.2 s
SPARE_FRAMES = 25  # for the pauses of a short sentence
QUIET_DB = 35.0  # below the loudness of all that it says there is no speech


class HeadCheck:
    """One sentence of so many words. `dbfs`: how loud all that the head says is."""

    def __init__(self, dbfs: float, words: int) -> None:
        self._quiet_rms = 32768 * 10 ** ((dbfs - QUIET_DB) / 20)
        self._most = FRAMES_A_TOKEN * words + SPARE_FRAMES
        self._before: deque[tuple[int, ...]] = deque(maxlen=LONGEST_PERIOD)
        self._same = [0] * LONGEST_PERIOD  # frames in a row that equal the one so many before
        self._frames = self._quiet = 0
        self._sounds = False
        self.loud = False  # the last frame

    def add(self, samples: Samples, codes: Sequence[int]) -> str:
        """One more frame. What is wrong with the sentence; "" for nothing."""
        self._frames += 1
        rms = float(np.sqrt(np.mean(np.square(samples.astype(np.float64))))) if len(samples) else 0
        self.loud = loud = rms >= self._quiet_rms
        self._sounds = self._sounds or loud
        self._quiet = 0 if loud else self._quiet + 1
        said = tuple(int(code) for code in codes)
        for period in range(LONGEST_PERIOD):
            again = loud and len(self._before) > period and self._before[-1 - period] == said
            self._same[period] = self._same[period] + 1 if again else 0
        self._before.append(said)
        if self._quiet > QUIET_FRAMES:
            return "it falls silent"
        if max(self._same) >= SAME_FRAMES:
            return "it repeats a sound"
        if self._frames > self._most:
            return "it takes too long"
        return ""

    def end(self) -> str:
        """No frame follows. What is wrong with the whole; "" for nothing."""
        return "" if self._sounds else "it makes no sound"
