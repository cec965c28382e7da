"""Does a sound say a text? By aligning the text's phones with the sound. pocketsphinx is imported
here, with its own model of American English, which heard none of the box's voices.

In: words and samples. Out: how well they fit. Nothing is written down: an alignment costs a fifth
of a dictation, and says at once whether the words are those of the text.
"""

from __future__ import annotations

import math

import numpy as np
from pocketsphinx import Decoder

from appliance.pcm import RATE_HZ, Samples

QUIET_SAMPLES = RATE_HZ // 5  # put before and behind; a sentence of a voice has none of its own
PEAK = 0.7  # one level for all
NO_FIT = -99.0  # of words that could not be laid along the sound at all
_LEAST_SCORE = 1e-300  # below which a logarithm is of no use


class SpeechAligner:
    """The recogniser, loaded: 0.1 s of a processor, 40 MiB."""

    def __init__(self) -> None:
        # compallsen: a frame's score is that of the wanted sound less that of the best of all
        # sounds, and not of the best of those that are in the text.
        self._decoder = Decoder(samprate=RATE_HZ, loglevel="FATAL", lm=None, compallsen=True)

    def knows(self, word: str) -> bool:
        return self._decoder.lookup_word(word) is not None

    def fit(self, words: list[str], sound: Samples) -> float:
        """The mean of the frames' log likelihoods, each less that of the best sound there: 0 at
        best, NO_FIT where the words do not fit at all. All of `words` must be known."""
        self._decoder.set_align_text(" ".join(words))
        decode(self._decoder, sound)
        parts = [part for part in self._decoder.seg() or () if part.word[0] not in "<["]
        # Behind a last word that is short pocketsphinx may end in a filler and leave the word out.
        if [part.word.partition("(")[0] for part in parts] not in (words, words[:-1]) or not parts:
            return NO_FIT
        frames = sum(int(part.end_frame) - int(part.start_frame) + 1 for part in parts)
        score = math.fsum(math.log(max(part.ascore, _LEAST_SCORE)) for part in parts)
        return max(NO_FIT, score / max(1, int(frames)))


def levelled(sound: Samples) -> Samples:
    """At the level that all voices are judged at: its peak is PEAK of full scale."""
    pcm = sound.astype(np.float64)
    pcm *= PEAK * 32767 / max(1.0, float(np.abs(pcm).max(initial=0.0)))
    return pcm.astype(np.int16)


def decode(decoder: Decoder, sound: Samples) -> None:
    """The whole sound as one utterance, levelled, with quiet before and behind it."""
    padded = np.pad(levelled(sound), QUIET_SAMPLES)
    decoder.start_utt()
    decoder.process_raw(padded.astype("<i2").tobytes(), False, True)
    decoder.end_utt()
