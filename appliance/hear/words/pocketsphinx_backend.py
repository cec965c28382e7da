"""Recognises words by pocketsphinx, with its American English model. The only import of it.

The recogniser uses a grammar of the owner's phrases and other common words, which absorb sounds
that are none of the phrases. The wake word spotter detects any phrase of words in its dictionary.
"""

from __future__ import annotations

import numpy as np
from pocketsphinx import Decoder

from appliance.errors import ModelError
from appliance.hear.words.interfaces import WordHypothesis
from appliance.pcm import RATE_HZ, Samples

# Pronunciations that its dictionary lacks.
_PRONOUNCED = {
    "mm-hm": ("M HH M", "AH M HH AH M"),
    "mhm": ("M HH M", "AH M HH AH M"),
    "uh-huh": ("AH HH AH", "AH HH M"),
}
# Short common words beside the owner's, and first words of questions.
_OTHERS = """
    go on off up down left one two three four five six seven eight nine zero what how why when who
    where is can could tell me about a and do you it that this please turn play set make open close
    give show coffee music light time weather listen question hey so well yesterday tomorrow
    something minute second much many more less again louder quiet thanks thank hello house tree
    cat dog bird bed happy
""".split()
_LEAST = 0.05  # less probable hypotheses are dropped
_WAKE_THRESHOLD = 1e-20, 1e20  # at sensitivity 0.5, and the factor from sensitivity 1 to 0
_SILENT_AGAIN_FRAMES = 30 * RATE_HZ  # the spotter starts a new utterance so often, to limit memory


class PocketsphinxRecogniser:
    """Recognises the owner's phrases and no others. Each hypothesis decodes the sound from its
    start, since only a complete decoding has a probability; 0.7 s of sound take about 27 ms."""

    name = "pocketsphinx"

    def __init__(self, listed: tuple[str, ...]) -> None:
        """`listed`: the owner's phrases. Those with a word outside the dictionary are left out and
        listed in `unknown`."""
        self._decoder = Decoder(keyphrase="stop", loglevel="FATAL")
        for word, pronunciations in _PRONOUNCED.items():
            _pronounce(self._decoder, word, pronunciations)
        self.unknown = tuple(phrase for phrase in listed if not self._in_dictionary(phrase))
        known = [phrase for phrase in listed if phrase not in self.unknown]
        others = [word for word in _OTHERS if word not in known]
        grammar = f"#JSGF V1.0; grammar words; public <words> = {' | '.join(known + others)};"
        self._decoder.add_jsgf_string("words", grammar)
        self._decoder.activate_search("words")
        self._others = frozenset(others)
        self.start()

    def start(self) -> None:
        self._chunks: list[Samples] = []

    def process(self, samples: Samples) -> None:
        self._chunks.append(samples)

    def hypothesis(self) -> WordHypothesis:
        if not self._chunks:
            return WordHypothesis("", 0.0)
        self._decoder.start_utt()
        self._decoder.process_raw(np.concatenate(self._chunks).tobytes(), full_utt=True)
        self._decoder.end_utt()
        best = self._decoder.hyp()
        if best is None or not best.hypstr or best.prob < _LEAST:
            return WordHypothesis("", 0.0)
        return WordHypothesis(best.hypstr, round(min(1.0, float(best.prob)), 3))

    def _in_dictionary(self, phrase: str) -> bool:
        return all(self._decoder.lookup_word(word) is not None for word in phrase.split())


class PocketsphinxWakeWord:
    """Detects any phrase. Raises ModelError for one with a word outside its dictionary."""

    name = "pocketsphinx"
    score = threshold = 0.0  # it has no scores below its threshold
    late_frames = RATE_HZ // 10

    def __init__(self, phrase: str, sensitivity: float = 0.5) -> None:
        self.phrase = phrase
        middle, span = _WAKE_THRESHOLD
        threshold = middle * span ** (0.5 - sensitivity)
        self._decoder = Decoder(keyphrase="stop", loglevel="FATAL")
        unknown = [word for word in phrase.split() if self._decoder.lookup_word(word) is None]
        if unknown:
            raise ModelError(
                f"`hearing.wake.phrase`: the word `{unknown[0]}` is in no dictionary here.",
                "Choose words of common English.",
            )
        self._decoder = Decoder(keyphrase=phrase, kws_threshold=threshold, loglevel="FATAL")
        self._started = False
        self.reset()

    def process(self, samples: Samples) -> float | None:
        self._decoder.process_raw(samples.tobytes())
        self._frames += len(samples)
        detected = self._decoder.hyp()
        if detected is None:
            if self._frames > _SILENT_AGAIN_FRAMES:
                self.reset()
            return None
        score = min(1.0, max(0.0, float(detected.prob)))
        self.reset()
        return score

    def reset(self) -> None:
        if self._started:
            self._decoder.end_utt()
        self._decoder.start_utt()
        self._started = True
        self._frames = 0


def _pronounce(decoder: Decoder, word: str, pronunciations: tuple[str, ...]) -> None:
    for number, phones in enumerate(pronunciations):
        known = decoder.lookup_word(word) is not None
        decoder.add_word(f"{word}({number + 5})" if known else word, phones, True)
