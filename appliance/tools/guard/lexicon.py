"""The form of a language's table of words, and the table of all languages together. Pure.

A row gives words one tag. `word*` matches every word that begins so, `*word` also every compound
that ends so (Kellertür), and `word` nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto


class Tag(Enum):
    """Meaning of a word. Things that open or guard come first, then verbs and their particles."""

    DOOR = auto()  # doors, gates, blinds, curtains, flaps: what closes downwards or by a push
    WINDOW = auto()  # windows: one that is lowered is open
    BOLLARD = auto()  # closed when it is up
    AWNING = auto()  # closed when it is in
    VALVE = auto()
    LOCK = auto()
    ALARM = auto()  # alarm systems, detectors, cameras, child locks
    SIREN = auto()
    OPENER = auto()  # whatever is done with it opens

    OPEN = auto()  # opens something, unless its object is harmless: an app
    UNLOCK = auto()  # opens something in any clause
    UNSURE = auto()  # "disable", "lift": may open something, unless its object is a device
    CLOSE = auto()
    LOWER = auto()
    RAISE = auto()
    RETRACT = auto()
    STOP = auto()
    FASTEN = auto()  # English verbs that are also nouns: lock, bolt
    ARM = auto()
    ON = auto()
    OFF = auto()
    SHOW = auto()

    DEVICE = auto()  # things in a house that guard nothing: light, radio
    HARMLESS = auto()  # what is opened on a screen, or carried out: app, list, dustbin
    TIME = auto()  # of an alarm clock
    NOT = auto()
    PLACE = auto()  # prepositions of place
    ARTICLE = auto()
    POSITION = auto()  # half, percent
    ZERO = auto()
    STATE = auto()  # is, are: before "closed" they state a fact and order nothing
    WISH = auto()
    SPARED = auto()  # German verbs with which "auf" opens nothing: "räum auf"
    NEUTRAL = auto()  # adverbs and particles after which a clause ends all the same


THINGS = (Tag.DOOR, Tag.WINDOW, Tag.BOLLARD, Tag.AWNING, Tag.VALVE, Tag.LOCK, Tag.ALARM, Tag.SIREN,
          Tag.OPENER)  # fmt: skip
Rows = tuple[tuple[Tag, str], ...]


_LEAST_FIRST_PART = 2  # letters before the last part of a compound
_NOTHING = r"(?!)"  # a pattern that matches nothing


def lines(text: str, **parts: str) -> tuple[str, ...]:
    """The patterns of `text`, one a line; an indented line goes on. <name>: one of `parts`."""
    found: list[str] = []
    indents = [len(line) - len(line.lstrip()) for line in text.splitlines() if line.strip()]
    for line in filter(str.strip, text.splitlines()):
        if len(line) - len(line.lstrip()) > min(indents, default=0):
            found[-1] += line.lstrip()
        else:
            found.append(line.strip())
    for name, part in parts.items():
        found = [pattern.replace(f"<{name}>", part) for pattern in found]
    return tuple(found)


def joins(text: str) -> tuple[tuple[str, str], ...]:
    """The rows of `text`: a pattern, an arrow, and what replaces it."""
    return tuple(
        (left, right) for left, _, right in (line.partition(" -> ") for line in lines(text))
    )


@dataclass(frozen=True)
class Language:
    """One language's table. The patterns are regular expressions on the text of a clause.

    rows      words by tag
    joins     patterns and what replaces them, before the words are looked up: "child lock"
    polite    removed from the beginning of a clause
    topics    beginnings of clauses about words, music, lists or reminders: nothing in them is done
    past      questions about what happened: they order nothing
    carry     topics that include the clause after them: "remind me, when …"
    asks      beginnings of questions for a state
    hints     open what the clause names, however it is said: "why is the gate still shut"
    corrections  take back what was just said: "close the gate, no wait"
    events    in a condition: what happens, and is not ordered: "when I open the door"
    orders    in a question: it is an order all the same
    idioms    open something without naming it: "let him in"
    spared    no idiom: "let me know"
    """

    rows: Rows
    joins: tuple[tuple[str, str], ...] = ()
    polite: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    carry: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    idioms: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The tables of several languages together."""

    languages: tuple[Language, ...]
    _exact: dict[str, set[Tag]] = field(default_factory=dict, init=False)
    _stems: list[tuple[str, Tag]] = field(default_factory=list, init=False)
    _heads: list[tuple[str, Tag]] = field(default_factory=list, init=False)
    _patterns: dict[str, re.Pattern[str]] = field(default_factory=dict, init=False)
    _joins: list[tuple[re.Pattern[str], str]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        for language in self.languages:
            for tag, words in language.rows:
                for word in words.split():
                    self._add(word, tag)
        for language in self.languages:
            for pattern, replacement in language.joins:
                self._joins.append((re.compile(rf"\b(?:{pattern})\b"), replacement))
        for name in (
            "polite",
            "topics",
            "past",
            "carry",
            "asks",
            "hints",
            "corrections",
            "events",
            "orders",
            "idioms",
            "spared",
        ):
            parts = [part for language in self.languages for part in getattr(language, name)]
            parts = parts or [_NOTHING]
            start = "^" if name in ("polite", "topics", "past", "carry", "asks") else ""
            self._patterns[name] = re.compile(rf"{start}\b(?:{'|'.join(parts)})\b")

    def _add(self, word: str, tag: Tag) -> None:
        if word.endswith("*"):
            self._stems.append((word[:-1], tag))
            return
        if word.startswith("*"):
            self._heads.append((word[1:], tag))
        self._exact.setdefault(word.lstrip("*"), set()).add(tag)

    def tags(self, word: str) -> frozenset[Tag]:
        """The tags of a word: of its own entry, else of the longest end, else of the beginning."""
        if word in self._exact:
            return frozenset(self._exact[word])
        ends = [row for row in self._heads if word.endswith(row[0])
                and len(word) >= len(row[0]) + _LEAST_FIRST_PART]  # fmt: skip
        found = ends or [row for row in self._stems if word.startswith(row[0])]
        longest = max((len(part) for part, _ in found), default=0)
        return frozenset(tag for part, tag in found if len(part) == longest)

    def join(self, text: str) -> str:
        """Replace what the tables join."""
        for pattern, replacement in self._joins:
            text = pattern.sub(replacement, text)
        return text

    def find(self, name: str, text: str) -> re.Match[str] | None:
        """Search for the patterns of this name."""
        return self._patterns[name].search(text)

    def strike(self, name: str, text: str) -> str:
        """Return `text` without what the patterns of this name match."""
        return self._patterns[name].sub(" ", text)

    def words(self, tags: Iterable[Tag]) -> set[str]:
        """The whole words of the table that have one of `tags`."""
        wanted = set(tags)
        return {word for word, own in self._exact.items() if own & wanted}
