"""Spells a request in one way and divides it into clauses. Pure.

In: text. Out: clauses of small letters without accents, with ä, ö, ü, ß as ae, oe, ue, ss.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "%": " percent "})
_BREAK = "|"  # marks a sign of punctuation
_IN_NUMBERS = re.compile(r"(?<=\d)[:.,](?=\d)")
_PUNCTUATION = re.compile(r"[.,;:!?…–—|/()]| - ")
_THRICE = re.compile(r"(.)\1\1+")
_CONJUNCTIONS = frozenset("and und then dann but aber sowie plus or oder y et ed".split())
# A word that begins a subordinate clause. "so" does so only before a subject: "so lieb" is none.
_SUBORDINATES = frozenset("if when whenever once wenn falls sobald weil because damit".split())
_SUBJECTS = frozenset("that the my our your he she they nobody it we i".split())


@dataclass(frozen=True)
class Clause:
    """`words` of one clause. `joint`: what stands before it: "", "|" or a conjunction."""

    words: tuple[str, ...]
    joint: str = ""

    @property
    def text(self) -> str:
        return " ".join(self.words)


def spell(text: str) -> str:
    """Return `text` in small letters without accents; punctuation is `|`, other signs spaces."""
    small = unicodedata.normalize("NFKC", text).casefold().translate(_GERMAN)
    plain = _letters(small)
    marked = _PUNCTUATION.sub(f" {_BREAK} ", _IN_NUMBERS.sub("", plain))
    spaced = "".join(letter if letter.isalnum() or letter == _BREAK else " " for letter in marked)
    return " ".join(_THRICE.sub(r"\1\1", spaced).split())


def without_accents(text: str) -> str:
    """Return `text` in small letters without accents: ä is a. Other signs become spaces."""
    plain = _letters(unicodedata.normalize("NFKC", text).casefold())
    return " ".join("".join(char if char.isalnum() else " " for char in plain).split())


def _letters(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if unicodedata.category(char) not in ("Mn", "Cf"))


def divide(words: list[str]) -> list[Clause]:
    """Divide the words of `spell` at punctuation, conjunctions and subordinate clauses."""
    found: list[Clause] = []
    clause: list[str] = []
    joint = ""
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        begins = word in _SUBORDINATES or (word == "so" and following in _SUBJECTS)
        if word == _BREAK or word in _CONJUNCTIONS or begins:
            if clause:
                found.append(Clause(tuple(clause), joint))
                joint = ""
            clause = [word] if begins else []
            joint = joint if word == _BREAK and joint else word
        else:
            clause.append(word)
    if clause:
        found.append(Clause(tuple(clause), joint))
    return found
