"""Converts English text to phonemes, and maps them to the characters of the text, word by word.

hibari's own rules (numbers, times, units, abbreviations) rewrite the text first. A comparison of
both texts finds which words of the old one each word of the new one stands for.
"""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

from hibari import g2p
from hibari.g2p.lexicon import Lexicon
from hibari.g2p.normalize import ABBREV, MONTHS, TITLES, normalize
from hibari.g2p.oov import OOV
from hibari.g2p.tagger import Tagger
from hibari.g2p.tokenize import Tokenizer

from appliance.errors import UnsayableText
from appliance.onnx_session import open_session
from appliance.voice.hibari.packed_tables import load_pronunciations, load_tagger

ASSETS = Path(g2p.ASSETS)
# A longer sentence is synthesised in parts, split after a clause if possible: the sound begins
# sooner, and memory stays small. The limit is about 15 s of sound.
MOST_PHONEMES = 240
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”’)\]]*\s+(?=\S)")
_CLAUSE_ENDS = tuple(",;:—.!?…")
# After these a full stop before a number does not end a sentence: "Jan. 5th", "No. 7", "approx. 3".
_BEFORE_NUMBERS = frozenset({*MONTHS, "sept", "no", "nos", *(each.rstrip(".") for each in ABBREV)})
_NO_SOUND = frozenset("[]")  # removed: hibari's syntax for phonemes in a text


class ReadWord(NamedTuple):
    """Characters `begin` to `end` of the text, and their phonemes. Several words if the phonemes
    cannot be assigned to single ones."""

    begin: int
    end: int
    phonemes: str


class Reader:
    """The lexicon and the rules, loaded."""

    def __init__(self) -> None:
        unknown = ASSETS / "oov.onnx"
        network = OOV(str(unknown), open_session(unknown, "the network that reads unknown words"))
        self._letters = frozenset(network.cin)
        self._g2p = _rules(network)

    def read(self, text: str) -> Iterator[list[ReadWord]]:
        """The words of `text`, in parts of at most MOST_PHONEMES, each to be synthesised at once.

        Raises UnsayableText for a word that has letters or digits but no phonemes, and for another
        script than Latin: hibari would name its letters one by one.
        """
        for word in text.split():
            if sum(each.isalpha() and not _is_latin(each) for each in word) > 1:
                raise UnsayableText("it is written in another script than Latin")
        text = "".join(map(self._known, text))
        for begin, end in sentences(text):
            words = self._words(text, begin, end)
            if any(map(str.isalpha, "".join(word.phonemes for word in words))):
                yield from _parts(words)

    def _known(self, letter: str) -> str:
        """`letter`, or the same letter without accents if hibari does not know it."""
        if letter.isalpha() and letter not in self._letters:
            return unicodedata.normalize("NFKD", letter)[0]
        return " " if letter in _NO_SOUND else letter

    def _words(self, text: str, begin: int, end: int) -> list[ReadWord]:
        rewritten = normalize(text[begin:end])
        sounds = [""]
        for token in self._g2p.phonemize_tokens(self._g2p.tokenize(rewritten)):
            sounds[-1] += token.phonemes or ""
            if token.whitespace:
                sounds.append("")
        new = rewritten.split()
        if len(sounds) != len(new):  # no known rule leads here
            new, sounds = [rewritten], [" ".join(filter(None, sounds))]
        for word, sound in zip(new, sounds, strict=True):
            if any(map(str.isalnum, word)) and not any(map(str.isalpha, sound)):
                raise UnsayableText("it has letters that it cannot read")
        places = [(found.start(), found.end()) for found in re.finditer(r"\S+", text[begin:end])]
        old = [text[begin + first : begin + last] for first, last in places]
        return [
            ReadWord(begin + places[first][0], begin + places[last - 1][1], phonemes)
            for first, last, low, high in same_words(old, new, normalize)
            if (phonemes := " ".join(filter(None, sounds[low:high])))
        ]


def _rules(unknown: OOV) -> g2p.G2P:
    """The same object as hibari's constructor makes, but with packed tables."""
    rules = g2p.G2P.__new__(g2p.G2P)
    rules.lexicon = Lexicon(
        *(
            load_pronunciations(ASSETS / f"lexicon_us_{each}.json.gz")
            for each in ("gold", "silver")
        ),
        british=False,
    )
    contractions = json.loads((ASSETS / "tokenizer_exceptions.json").read_text(encoding="utf-8"))
    rules.tokenizer = Tokenizer(contractions)
    rules.tagger = Tagger(load_tagger(ASSETS / "tagger.json.gz"))
    rules.unk, rules.british = "", False
    rules._oov = unknown  # hibari's private attribute
    return rules


def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(("LATIN ", "FEMININE ", "MASCULINE ", "MICRO "))


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence of `text`."""
    begin = 0
    for found in _SENTENCE_END.finditer(text):
        if _ends(text, found.start(), text[found.end()]):
            yield begin, found.start()
            begin = found.end()
    if text[begin:].strip():
        yield begin, len(text)


def _ends(text: str, end: int, following: str) -> bool:
    """Whether a sentence ends at `end`: not after a title, an initial or, before a number, an
    abbreviation."""
    if following.islower():
        return False
    if text[end - 1] != ".":
        return True
    word = text[text.rfind(" ", 0, end) + 1 : end - 1].lstrip("(\"“'‘")
    if following.isdigit() and word.lower() in _BEFORE_NUMBERS:
        return False
    return word not in TITLES and not (len(word) == 1 and word.isupper())


def same_words(
    old: list[str], new: list[str], rewrite: Callable[[str], str]
) -> Iterator[tuple[int, int, int, int]]:
    """Which words of `new` replace which of `old`, as (first, after the last) of both. A rewritten
    passage is one group, unless the number of words is the same, or each word rewritten alone
    (`rewrite`) gives the same result."""
    rows: list[tuple[int, int, int, int]] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, first, last, low, high in matcher.get_opcodes():
        if kind == "insert":  # joined to the word before it, or else to the one after it
            if rows:
                rows[-1] = (*rows[-1][:3], high)
        elif last - first == high - low:
            rows += [(first + i, first + i + 1, low + i, low + i + 1) for i in range(last - first)]
        elif [*chain(*(separately := [rewrite(word).split() for word in old[first:last]]))] == new[
            low:high
        ]:
            ends = [low, *accumulate(map(len, separately), initial=low)][1:]
            rows += [(first + i, first + i + 1, ends[i], ends[i + 1]) for i in range(last - first)]
        else:
            rows.append((first, last, low, high))
    if rows and rows[0][2]:
        rows[0] = (rows[0][0], rows[0][1], 0, rows[0][3])
    yield from rows


def _parts(words: list[ReadWord]) -> Iterator[list[ReadWord]]:
    """Split `words` after the last clause that fits, or else between words."""
    while words:
        length = fits = clause = 0
        for count, word in enumerate(words, 1):
            length += len(word.phonemes) + 1
            if length > MOST_PHONEMES and fits:
                break
            fits = count
            if word.phonemes.endswith(_CLAUSE_ENDS):
                clause = count
        cut = len(words) if fits == len(words) else clause or fits
        yield words[:cut]
        words = words[cut:]
