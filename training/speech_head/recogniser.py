"""A recogniser that was not trained on this voice: pocketsphinx with its own model of American
English. In: samples at 24 kHz. Out: words, and the number of word errors."""

import re

import numpy as np
import soxr
from numpy.typing import NDArray
from pocketsphinx import Decoder

RATE = 16_000
QUIET = 3200  # samples of silence before and after
PEAK = 0.7


def words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


class Recogniser:
    def __init__(self) -> None:
        self.decoder = Decoder(samprate=RATE, loglevel="FATAL")

    def hear(self, sound: NDArray[np.float32], rate: int = 24_000) -> list[str]:
        y = soxr.resample(sound.astype(np.float32), rate, RATE)
        y = np.pad(y * (PEAK / max(1e-6, float(np.abs(y).max(initial=0.0)))), (QUIET, QUIET))
        self.decoder.start_utt()
        self.decoder.process_raw((y * 32767).astype("<i2").tobytes(), False, True)
        self.decoder.end_utt()
        found = self.decoder.hyp()
        return words(found.hypstr) if found else []


def errors(meant: list[str], heard: list[str]) -> int:
    """The number of missing, inserted and substituted words: the edit distance."""
    row = list(range(len(heard) + 1))
    for i, a in enumerate(meant):
        before, row[0] = row[:], i + 1
        for j, b in enumerate(heard):
            row[j + 1] = min(before[j] + (a != b), before[j + 1] + 1, row[j] + 1)
    return row[-1]
