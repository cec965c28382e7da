"""Words by pocketsphinx: the only import of it. Its package carries its American English model.

As a recogniser: a grammar of the owner's phrases among other common words, so that what is none
of them has somewhere to go. As a wake word spotter: any phrase whose words it knows.
"""

from __future__ import annotations

import numpy as np
from pocketsphinx import Decoder

from appliance.errors import ModelError
from appliance.hear.words.interfaces import WordHypothesis
from appliance.pcm import RATE_HZ, Samples

# What its dictionary does not know, or not as people murmur it.
_PRONOUNCED = {
    "mm-hm": ("M HH M", "AH M HH AH M"),
    "mhm": ("M HH M", "AH M HH AH M"),
    "uh-huh": ("AH HH AH", "AH HH M"),
}
# Short common words beside the owner's, and what questions begin with.
_OTHERS = """
    go on off up down left one two three four five six seven eight nine zero what how why when who
    where is can could tell me about a and do you it that this please turn play set make open close
    give show coffee music light time weather listen question hey so well yesterday tomorrow
    something minute second much many more less again louder quiet thanks thank hello house tree
    cat dog bird bed happy
""".split()
_LEAST = 0.05  # a hypothesis less likely than that is no news
_WAKE_THRESHOLD = 1e-20, 1e20  # at sensitivity 0.5, and the factor from 0 to 1
_SILENT_AGAIN_FRAMES = 30 * RATE_HZ  # an utterance of the spotter's ends so often: memory


class PocketsphinxRecogniser:
    """The owner's phrases and nothing else. Each guess decodes the sound from its beginning: one
    of 0.7 s takes about 27 ms here, and a decoding that is complete knows how sure it is."""

    name = "pocketsphinx"

    def __init__(self, listed: tuple[str, ...]) -> None:
        """`listed`: the owner's phrases; those with a word that it does not know are left out and
        named in `unknown`."""
        self._decoder = Decoder(keyphrase="stop", loglevel="FATAL")
        for word, ways in _PRONOUNCED.items():
            _pronounce(self._decoder, word, ways)
        self.unknown = tuple(phrase for phrase in listed if not self._knows(phrase))
        known = [phrase for phrase in listed if phrase not in self.unknown]
        others = [word for word in _OTHERS if word not in known]
        grammar = f"#JSGF V1.0; grammar words; public <words> = {' | '.join(known + others)};"
        self._decoder.add_jsgf_string("words", grammar)
        self._decoder.activate_search("words")
        self._others = frozenset(others)
        self.start()

    def start(self) -> None:
        self._pieces: list[Samples] = []

    def process(self, samples: Samples) -> None:
        self._pieces.append(samples)

    def hypothesis(self) -> WordHypothesis:
        if not self._pieces:
            return WordHypothesis("", 0.0)
        self._decoder.start_utt()
        self._decoder.process_raw(np.concatenate(self._pieces).tobytes(), full_utt=True)
        self._decoder.end_utt()
        best = self._decoder.hyp()
        if best is None or not best.hypstr or best.prob < _LEAST:
            return WordHypothesis("", 0.0)
        return WordHypothesis(best.hypstr, round(min(1.0, float(best.prob)), 3))

    def _knows(self, phrase: str) -> bool:
        return all(self._decoder.lookup_word(word) is not None for word in phrase.split())


class PocketsphinxWakeWord:
    """Any phrase. Raises ModelError for one with a word that is not in its dictionary."""

    name = "pocketsphinx"
    score = threshold = 0.0  # below its threshold it says nothing
    late_frames = RATE_HZ // 10

    def __init__(self, phrase: str, sensitivity: float = 0.5) -> None:
        self.phrase = phrase
        middle, span = _WAKE_THRESHOLD
        threshold = middle * span ** (0.5 - sensitivity)
        self._decoder = Decoder(keyphrase="stop", loglevel="FATAL")
        unknown = [w for w in phrase.split() if self._decoder.lookup_word(w) is None]
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
        heard = self._decoder.hyp()
        if heard is None:
            if self._frames > _SILENT_AGAIN_FRAMES:
                self.reset()
            return None
        score = min(1.0, max(0.0, float(heard.prob)))
        self.reset()
        return score

    def reset(self) -> None:
        if self._started:
            self._decoder.end_utt()
        self._decoder.start_utt()
        self._started = True
        self._frames = 0


def _pronounce(decoder: Decoder, word: str, ways: tuple[str, ...]) -> None:
    for number, phones in enumerate(ways):
        known = decoder.lookup_word(word) is not None
        decoder.add_word(f"{word}({number + 5})" if known else word, phones, True)
