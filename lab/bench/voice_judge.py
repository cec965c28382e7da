"""Transcribes and aligns a voice's speech with pocketsphinx and its model of American English,
which was not trained on the voice. In: samples at 16 kHz. Out: recognised words, word times."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pocketsphinx import Decoder

from appliance.pcm import RATE_HZ, Samples
from appliance.voice.speech_aligner import QUIET_SAMPLES, decode

FRAME_SAMPLES = RATE_HZ // 100  # its analysis frame: word times have a resolution of 10 ms


class AlignedWord(NamedTuple):
    """A word sounds from sample `begin` up to sample `end`."""

    word: str
    begin: int
    end: int


class VoiceJudge:
    """A loaded recogniser, for free recognition and for the alignment of a known text. `search`:
    options of its search; without any it is the most thorough, which the figures are of."""

    def __init__(self, **search: Any) -> None:
        self._decoder = Decoder(samprate=RATE_HZ, loglevel="FATAL", **search)

    def knows(self, word: str) -> bool:
        return self._decoder.lookup_word(word) is not None

    def heard(self, sound: Samples) -> list[str]:
        """The words recognised without knowledge of the text."""
        self._decoder.activate_search()
        decode(self._decoder, sound)
        found = self._decoder.hyp()
        return words_of(found.hypstr) if found else []

    def aligned(self, words: list[str], sound: Samples) -> list[AlignedWord]:
        """The place of each of the spoken `words`; empty if one is not in its dictionary, or if
        they do not fit the sound."""
        if not all(map(self.knows, words)):
            return []
        self._decoder.set_align_text(" ".join(words))
        decode(self._decoder, sound)
        found = [
            AlignedWord(part.word.partition("(")[0], _sample(part.start_frame),
                        _sample(part.end_frame + 1))
            for part in self._decoder.seg() or ()
            if part.word[0] not in "<["
        ]  # fmt: skip
        return found if [word.word for word in found] == words else []


def words_of(text: str) -> list[str]:
    """The words in lower case, without punctuation."""
    return re.findall(r"[a-z']+", text.lower())


def wrong_words(spoken: list[str], recognised: list[str]) -> int:
    """The number of word errors: deletions, insertions and substitutions (edit distance)."""
    row = list(range(len(recognised) + 1))
    for number, word in enumerate(spoken, 1):
        previous, row = row, [number]
        for place, other in enumerate(recognised):
            row.append(min(previous[place] + (word != other), previous[place + 1] + 1, row[-1] + 1))
    return row[-1]


def _sample(frame: int) -> int:
    return frame * FRAME_SAMPLES - QUIET_SAMPLES
