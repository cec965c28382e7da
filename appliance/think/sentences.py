"""A stream of text becomes sentences, each handed on as soon as it is surely complete.

In: text in pieces of any size. Out: sentences as a voice says them. How the text was cut into
pieces makes no difference to the sentences.
"""

from __future__ import annotations

import re

from appliance.plain_text import spoken

# The very first piece may end where a speaker may pause, so that speech begins early: at a mark
# inside the sentence after so many words, before a conjunction after JOIN_WORDS more, since that
# may join two words only ("ten or twelve"), and after PHRASE_WORDS more before a word that begins a
# phrase: each word more is a token that the owner waits for.
CLAUSE_WORDS = 4
JOIN_WORDS = 2
PHRASE_WORDS = 4
LONGEST = 300  # characters; about 20 s of speech, and no voice likes more at once

_ENDS = ".!?…"
_QUOTES = "\"'”’»"
_CLOSERS = _QUOTES + ")]}*_`"
_CLAUSE = re.compile(r"(?:[,;:—–]|(?<=\s)-)(?=\s)")
# English and German; none that is another kind of word in the other language, as "so" and "die",
# stands inside names, as "von", or ends a verb, as "auf" in "geht auf".
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

# Always followed by what they belong to:
_NEVER_LAST = """
mr mrs ms mx dr prof st mt gen col sgt capt lt rev hon messrs vs e.g i.e cf approx ca fig eq vol pp
"""
# The end of a sentence only if a capital letter follows:
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
    """Feed it text, take sentences; `flush` at the end gives what is left.

    `places`: of each sentence that the last call gave, how many letters of all the text stand
    before it, and the text that it was made of.
    """

    def __init__(self, clause_words: int = CLAUSE_WORDS, longest: int = LONGEST) -> None:
        self._clause_words = clause_words
        self._longest = longest
        self._rest = ""
        self._first = True
        self._before = 0  # letters before the rest
        self.places: list[tuple[int, str]] = []

    def push(self, text: str) -> list[str]:
        """The sentences that this text completes."""
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
        """The text has ended: what is left, as sentences. After it a new text may begin."""
        found = self.push("\n")
        self._first = True
        return found

    def _drop(self, letters: int) -> None:
        self._rest = self._rest[letters:]
        self._before += letters

    def _end(self) -> int | None:
        """Where the first sentence of what is left ends; None if more must be read to know.

        What is decided here depends only on the text up to the decision, never on what follows
        it by chance: else two ways of cutting the text would give different sentences.
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
                    return at + 1  # nothing that follows makes it a part of a word: a token sooner
                if at + 1 == len(text):
                    return None
                if enough and _CLAUSE.match(text, at):
                    return at + 1
            elif self._first and self._may_pause(text, at):
                return at
        return None

    def _may_pause(self, text: str, at: int) -> bool:
        """Whether the word at `at` begins a clause or a phrase, behind enough words."""
        for found, more in ((_JOINS, JOIN_WORDS), (_PHRASES, PHRASE_WORDS)):
            if found.match(text, at):
                return len(text[:at].split()) >= self._clause_words + more
        return False

    def _cut(self, text: str) -> int:
        """Where to cut what is too long: after its last clause, or its last word, or anywhere."""
        clauses = [m.end() for m in _CLAUSE.finditer(text, 0, self._longest)]
        if clauses and clauses[-1] > self._longest // 3:
            return clauses[-1]
        space = text.rfind(" ", 1, self._longest)
        return space if space > 0 else self._longest


def _sentence_end(text: str, at: int) -> int | None:
    """The end of the sentence if the mark at `at` ends one, 0 if it does not, None if unknown."""
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
    """Whether a full stop ends a sentence, by what stands before it and the letter after it."""
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
