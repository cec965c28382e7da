"""Splits a stream of text into sentences and returns each as soon as it is certainly complete.

In: text in pieces of any size. Out: sentences as a voice says them. They do not depend on how the
text was cut into pieces.
"""

from __future__ import annotations

import re

from appliance.plain_text import spoken

# The first piece of an answer may be shorter than a sentence, so that speech starts early. It ends
# after CLAUSE_WORDS words at a punctuation mark; after JOIN_WORDS more before a conjunction, since
# that may join only two words ("ten or twelve"); after PHRASE_WORDS more before a word that starts
# a phrase. The owner waits for the token of each additional word.
CLAUSE_WORDS = 4
JOIN_WORDS = 2
PHRASE_WORDS = 4
LONGEST = 300  # characters; about 20 s of speech, and longer text is too much for a voice at once

_ENDS = ".!?…"
_QUOTES = "\"'”’»"
_CLOSERS = _QUOTES + ")]}*_`"
_CLAUSE = re.compile(r"(?:[,;:—–]|(?<=\s)-)(?=\s)")
# English and German. Words are left out that are another kind of word in the other language ("so",
# "die"), are part of names ("von") or end a verb ("auf" in "geht auf").
_JOIN_WORDS = """
and but or because which while although though since when where if until unless
und aber oder weil denn obwohl sodass wenn
"""
_PHRASE_WORDS = """
after at before between by during for from in into on through to who whose with
bei dass für gegen ohne wegen zwischen
"""
_LIST_MARK = re.compile(r"[#*_>•\-\s]*\(?(?:\d{1,3}|[a-z])")
_DOTTED = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")  # U.S, a.m, e.g
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘*_/]*$")

# Abbreviations that never end a sentence:
_NEVER_LAST = """
mr mrs ms mx dr prof st mt gen col sgt capt lt rev hon messrs vs e.g i.e cf approx ca fig eq vol pp
"""
# Abbreviations that end a sentence only if neither a small letter nor a digit follows:
_SELDOM_LAST = """
etc inc ltd co corp jr sr al dept est min max tel
jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun
"""
_never_last, _seldom_last = frozenset(_NEVER_LAST.split()), frozenset(_SELDOM_LAST.split())
_WHOLE_WORD = r"(?<=\s)(?:{})(?=\s)"
_JOINS, _PHRASES = (
    re.compile(_WHOLE_WORD.format("|".join(words.split())), re.IGNORECASE)
    for words in (_JOIN_WORDS, _PHRASE_WORDS)
)


class SentenceSplitter:
    """Collects text and returns sentences; `flush` returns the rest at the end.

    `places`: for each sentence of the last call, its position in all of the text, in letters, and
    the raw text that it was made of.
    """

    def __init__(self, clause_words: int = CLAUSE_WORDS, longest: int = LONGEST) -> None:
        self._clause_words = clause_words
        self._longest = longest
        self._rest = ""
        self._first = True
        self._before = 0  # position of `_rest` in all of the text
        self.places: list[tuple[int, str]] = []

    def push(self, text: str) -> list[str]:
        """Add text and return the sentences that it completes."""
        self._rest += text
        found: list[str] = []
        self.places = []
        while True:
            self._drop(len(self._rest) - len(self._rest.lstrip()))
            end = self._end()
            if end is None:
                return found
            place = self._before, self._rest[:end]
            self._drop(end)
            if sentence := spoken(place[1]):
                found.append(sentence)
                self.places.append(place)
                self._first = False

    def flush(self) -> list[str]:
        """End the text and return the rest of it as sentences. A new text may follow."""
        found = self.push("\n")
        self._first = True
        return found

    def _drop(self, letters: int) -> None:
        self._rest = self._rest[letters:]
        self._before += letters

    def _end(self) -> int | None:
        """Return the end of the first sentence in `_rest`; None if that needs more text.

        The decision depends only on the text up to the point where it is made, not on text that
        happens to be there already: otherwise the sentences would depend on the pieces.
        """
        text = self._rest
        for at, letter in enumerate(text):
            if letter == "\n":
                return at + 1
            if at >= self._longest:
                return self._cut(text)
            if letter in _ENDS and (at == 0 or text[at - 1] not in _ENDS):
                end = _sentence_end(text, at)
                if end is None or end > 0:
                    return end
            elif self._first and letter in ",;:—–-":
                enough = len(text[:at].split()) >= self._clause_words
                if enough and letter in ",;" and text[at - 1].isalpha():
                    return at + 1  # certain without the next letter, so one token earlier
                if at + 1 == len(text):
                    return None
                if enough and _CLAUSE.match(text, at):
                    return at + 1
            elif self._first and self._may_pause(text, at):
                return at
        return None

    def _may_pause(self, text: str, at: int) -> bool:
        """Whether the word at `at` starts a clause or a phrase after enough words."""
        for found, more in ((_JOINS, JOIN_WORDS), (_PHRASES, PHRASE_WORDS)):
            if found.match(text, at):
                return len(text[:at].split()) >= self._clause_words + more
        return False

    def _cut(self, text: str) -> int:
        """Return where to cut a sentence that is too long: after its last clause, else after its
        last word, else at the maximum length."""
        clauses = [m.end() for m in _CLAUSE.finditer(text, 0, self._longest)]
        if clauses and clauses[-1] > self._longest // 3:
            return clauses[-1]
        space = text.rfind(" ", 1, self._longest)
        return space if space > 0 else self._longest


def _sentence_end(text: str, at: int) -> int | None:
    """Return the end of the sentence if the mark at `at` ends one, 0 if not, None if unknown."""
    after = at
    while after < len(text) and text[after] in _ENDS:
        after += 1
    mark = text[at:after]
    end = after
    while end < len(text) and text[end] in _CLOSERS:
        end += 1
    if end == len(text):
        return None
    if not text[end].isspace():
        return 0  # 3.5, example.com, ?query
    following = re.compile(r"\s*?(\n|\S\S|\S\s)").match(text, end)
    if following is None:
        return None
    next_letter = following[1][0]
    if next_letter == "\n":
        return end
    quoted = any(letter in _QUOTES for letter in text[after:end])
    if quoted and next_letter.islower():
        return 0  # "Really?" he asked
    if mark == ".":
        ends = _full_stop(text[:at], next_letter)
    elif "…" in mark or ".." in mark:
        pronoun = next_letter == "I" and not following[1][1:].isalnum()
        ends = not next_letter.islower() and not pronoun
    else:
        ends = True
    return end if ends else 0


def _full_stop(before: str, next_letter: str) -> bool:
    """Whether a full stop ends a sentence, by the text before it and the letter after it."""
    if _LIST_MARK.fullmatch(before):
        return False
    found = _LAST_WORD.search(before)
    word = found[0] if found else ""
    if len(word) == 1 and word.isalpha() and word != "I":
        return False  # J. S. Bach
    low = word.lower()
    if low in _never_last:
        return False
    if low == "no":
        return not next_letter.isdigit()  # No. 5; but "No." is an answer
    if low in _seldom_last or _DOTTED.fullmatch(word):
        return not (next_letter.islower() or next_letter.isdigit())
    return True
