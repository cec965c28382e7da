"""Measures how well a sound matches a text, by forced alignment of the text's phones with
pocketsphinx and its model of American English, which was not trained on the box's voices.

In: words and samples. Out: the fit. It makes no transcript: an alignment takes a fifth of the time
of free recognition, and answers directly whether the sound has the words of the text.
"""

from __future__ import annotations

import math

import numpy as np
from pocketsphinx import Decoder

from appliance.pcm import RATE_HZ, Samples

QUIET_SAMPLES = RATE_HZ // 5  # of silence added at both ends: the voices' sentences have none
PEAK = 0.7  # of full scale: the level to which every sound is brought
NO_FIT = -99.0  # the fit of words that could not be aligned with the sound at all
_LEAST_SCORE = 1e-300  # lower bound of a score, for its logarithm


class SpeechAligner:
    def __init__(self, decoder: Decoder | None = None) -> None:
        """`decoder`: None for a new one, which takes 0.1 s of CPU time and 40 MiB."""
        # compallsen: a frame's score is that of the text's phone minus the best of all phones, not
        # minus the best of the phones in the text.
        self._decoder = decoder or Decoder(
            samprate=RATE_HZ, loglevel="FATAL", lm=None, compallsen=True
        )

    def knows(self, word: str) -> bool:
        return self._decoder.lookup_word(word) is not None

    def fit(self, words: list[str], sound: Samples) -> float:
        """The mean over the frames of the log likelihood minus that of the frame's best phone: 0 at
        best, NO_FIT if the words do not fit at all. `knows` must be true for all of `words`."""
        self._decoder.set_align_text(" ".join(words))
        decode(self._decoder, sound)
        parts = [part for part in self._decoder.seg() or () if part.word[0] not in "<["]
        # pocketsphinx may replace a short last word by a filler.
        if [part.word.partition("(")[0] for part in parts] not in (words, words[:-1]) or not parts:
            return NO_FIT
        frames = sum(int(part.end_frame) - int(part.start_frame) + 1 for part in parts)
        score = math.fsum(math.log(max(part.ascore, _LEAST_SCORE)) for part in parts)
        return max(NO_FIT, score / max(1, int(frames)))


def levelled(sound: Samples) -> Samples:
    """`sound` at the level at which all voices are judged: its peak is PEAK of full scale."""
    pcm = sound.astype(np.float64)
    pcm *= PEAK * 32767 / max(1.0, float(np.abs(pcm).max(initial=0.0)))
    return pcm.astype(np.int16)


def decode(decoder: Decoder, sound: Samples) -> None:
    """Decode the sound as one utterance, levelled, with silence added at both ends."""
    padded = np.pad(levelled(sound), QUIET_SAMPLES)
    decoder.start_utt()
    decoder.process_raw(padded.astype("<i2").tobytes(), False, True)
    decoder.end_utt()
