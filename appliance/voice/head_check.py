"""Checks whether the head's sound resembles speech. Pure: frames in, the problem with them out.

It recognises no words. It finds a head that is silent, one that repeats the same sound, and one
whose sentence does not end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from appliance.pcm import Samples

# A frame has 80 ms.
QUIET_FRAMES = 25  # limit of a silence inside a sentence: the longest pause at a comma has five
SAME_FRAMES = 10  # limit of repeated frames: a long vowel of the teacher has four
LONGEST_PERIOD = 4  # frames of the longest repeated pattern: a syllable
FRAMES_A_TOKEN = 18  # limit per token: a Gemma token is at most a word, and the longest last 1.2 s
SPARE_FRAMES = 25  # added to that limit, for the pauses of a short sentence
QUIET_DB = 35.0  # a frame that is so far below the head's mean loudness has no speech


class HeadCheck:
    """Checks one sentence of `words` words. `dbfs`: mean loudness of the head's speech."""

    def __init__(self, dbfs: float, words: int) -> None:
        self._quiet_rms = 32768 * 10 ** ((dbfs - QUIET_DB) / 20)
        self._most = FRAMES_A_TOKEN * words + SPARE_FRAMES
        self._before: deque[tuple[int, ...]] = deque(maxlen=LONGEST_PERIOD)
        # [p - 1]: number of consecutive frames that each equal the one p frames before
        self._same = [0] * LONGEST_PERIOD
        self._frames = self._quiet = 0
        self._sounds = False
        self.loud = False  # whether the last frame has energy

    def add(self, samples: Samples, codes: Sequence[int]) -> str:
        """Check one more frame. Returns the problem with the sentence; "" for none."""
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
        """Check the end of the sentence. Returns the problem with it; "" for none."""
        return "" if self._sounds else "it makes no sound"
