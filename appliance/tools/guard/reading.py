"""Reads a request to the house clause by clause: may it open something? Pure.

A clause that names what opens or guards may open it, unless the clause as a whole is recognised as
harmless: it closes, locks or arms; it asks for a state; it names the door only as a place.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable
from enum import IntEnum

from appliance.tools.guard import spelling
from appliance.tools.guard.clauses import Clause, divide, spell, without_accents
from appliance.tools.guard.english import ENGLISH
from appliance.tools.guard.german import GERMAN
from appliance.tools.guard.lexicon import THINGS, Lexicon, Tag
from appliance.tools.guard.other_languages import OTHERS
from appliance.tools.guard.words import Word, tag_words

Tags = frozenset[Tag]


class Reading(IntEnum):
    """What a request does to what opens or guards. The highest of its clauses counts.

    PLAIN   it names nothing of the kind
    ASKS    it asks for a state, or is about words, music, a list or a reminder
    PLACE   it names a door only as the place of a lamp
    CLOSES  it closes, locks or arms
    OPENS   it may open, uncover or disarm something
    """

    PLAIN = 0
    ASKS = 1
    PLACE = 2
    CLOSES = 3
    OPENS = 4


# With which verbs a thing is closed or armed. A siren or an opener has none.
_CLOSED_BY: dict[Tag, frozenset[Tag]] = {
    Tag.DOOR: frozenset((Tag.CLOSE, Tag.LOWER, Tag.STOP)),
    Tag.WINDOW: frozenset((Tag.CLOSE, Tag.STOP)),
    Tag.BOLLARD: frozenset((Tag.CLOSE, Tag.RAISE, Tag.STOP)),
    Tag.AWNING: frozenset((Tag.CLOSE, Tag.RETRACT, Tag.STOP)),
    Tag.VALVE: frozenset((Tag.CLOSE, Tag.OFF, Tag.STOP)),
    Tag.LOCK: frozenset((Tag.CLOSE,)),
    Tag.ALARM: frozenset((Tag.ARM, Tag.ON, Tag.SHOW)),
    Tag.SIREN: frozenset(),
    Tag.OPENER: frozenset(),
}
_MOST_IN_A_NAME = 5  # words of a second object: "and the old garage door"
_MOST_BETWEEN = 4  # words from "is" to "closed"
_PARTICLES = frozenset("auf an ein aus ab zu on off up hoch open offen".split())
_ACTIONS = frozenset((Tag.OPEN, Tag.UNLOCK, Tag.RAISE, Tag.CLOSE, Tag.LOWER, Tag.ON, Tag.OFF,
                      Tag.ARM, Tag.STOP, Tag.FASTEN, Tag.RETRACT, Tag.SHOW))  # fmt: skip
_AND = frozenset("and und or oder plus sowie y et".split())
_CONDITIONS = frozenset("if when whenever once wenn falls sobald weil because".split())
_SUBORDINATES = _CONDITIONS | frozenset("that dass ob whether wer was wo wie who what which how to "
                                        "daran welche welches".split())  # fmt: skip
_NEGATIONS = frozenset("t not nicht".split())
_PURPOSES = frozenset("so damit sonst otherwise".split())
_WISH = re.compile(
    r"\b(?:would|d|should|could) (?:be|like|love|prefer|appreciate|want)\b|"
    r"\b(?:waer|haett|wuensch|gern|super|schoen|toll|nett|happy|wish|nice|great|prima|"
    r"(?:is it|ist es) (?:ok|okay|alright|moeglich|possible|recht))"
)
_TO_INFINITIVE = re.compile(
    r"\b(?:zu \w+e[nr]n?|\w*(?:ab|auf|zu|raus|rein|ein|an|aus)zu\w+e[nr]n?)$"
)
_SHOULD = re.compile(r"(?:sie|er|they|he|she) (?:soll|should)")
_NUMBER = re.compile(
    r"\b(?:to|auf) (?:\d+|\w*(?:zehn|zig|hundert)|ten|twenty|thirty|forty|fifty|"
    r"sixty|seventy|eighty|ninety|(?:one )?hundred)\b(?! (?:uhr|oclock|minut|grad|degree))"
)


@functools.cache
def lexicon() -> Lexicon:
    """The tables of all languages; to compile the patterns takes a tenth of a second on a PC."""
    return Lexicon((ENGLISH, GERMAN, *OTHERS))


def read_request(text: str) -> Reading:
    """Return the reading of a request in one of the languages of the tables."""
    reading = max(_read_clauses(text), default=Reading.PLAIN)
    if reading == Reading.CLOSES and lexicon().find("corrections", spell(text)) is not None:
        return Reading.OPENS
    return reading


def only_asks(text: str) -> bool:
    """Whether every clause asks for something, or names a door only as a place."""
    readings = _read_clauses(text)
    return bool(readings) and all(one in (Reading.ASKS, Reading.PLACE) for one in readings)


def _read_clauses(text: str) -> list[Reading]:
    known = lexicon().join(spell(text)).split()
    clauses = [_polite(clause) for clause in _merge(divide([_correct(word) for word in known]))]
    clauses = [clause for clause in clauses if clause.words]
    wished = any(_WISH.search(clause.text) for clause in clauses)
    found: list[Reading] = []
    carries = False
    for clause in clauses:
        asked = bool(found) and found[-1] == Reading.ASKS
        reading = read_clause(clause)
        if reading == Reading.OPENS and (
            (asked and carries and _is_subordinate(clause))
            or (asked and clause.joint in _AND and _continues_question(clause))
            or (len(clauses) > 1 and not wished and _is_condition(clause))
        ):
            reading = Reading.ASKS
        carries = lexicon().find("carry", clause.text) is not None
        found.append(reading)
    return found


def _correct(word: str) -> str:
    return word if lexicon().tags(word) else spelling.correct(word)


def _polite(clause: Clause) -> Clause:
    """Without polite phrases at its beginning."""
    if clause.joint in _PURPOSES:
        return clause  # its "so" is no filler
    text = clause.text
    while (found := lexicon().find("polite", text)) is not None and found[0]:
        text = text[found.end() :].strip()
    return Clause(tuple(text.split()), clause.joint)


def _merge(clauses: list[Clause]) -> list[Clause]:
    """Join clauses that are no orders of their own to the one before: "and the back door"."""
    merged: list[Clause] = []
    for clause in clauses:
        if merged and (
            _ends_list(merged[-1], clause)
            or _belongs_to_the_last(clause)
            or _completes(merged[-1], clause)
        ):
            last = merged.pop()
            clause = Clause((*last.words, *clause.words), last.joint)
        merged.append(clause)
    return merged


def _belongs_to_the_last(clause: Clause) -> bool:
    first = clause.words[0]
    if first in ("dass", "that") and clause.joint == "|":
        return True
    tags = [lexicon().tags(word) for word in clause.words]
    if all(word in _PARTICLES for word in clause.words):
        return clause.joint in _AND
    acts = any(own & _ACTIONS for own in tags) or clause.words[-1] in _PARTICLES
    if acts or len(clause.words) > _MOST_IN_A_NAME:
        return False
    return bool(tags[0] & {Tag.ARTICLE, *THINGS}) and any(own & {*THINGS} for own in tags)


def _ends_list(last: Clause, clause: Clause) -> bool:
    """ "Add a door mat and | a curtain rail to the list"."""
    both = f"{last.text} {clause.text}"
    return (
        clause.joint in _AND
        and not any(lexicon().tags(word) & _ACTIONS for word in clause.words)
        and lexicon().find("topics", both) is not None
        and lexicon().find("topics", last.text) is None
    )


def _completes(last: Clause, clause: Clause) -> bool:
    """ "Windows and | shutters down": the verb comes after the last noun."""
    acts = any(lexicon().tags(word) & _ACTIONS for word in last.words)
    nouns = lexicon().tags(last.words[-1]), lexicon().tags(clause.words[0])
    return (
        clause.joint in _AND
        and not acts
        and not nouns[0].isdisjoint(THINGS)
        and not nouns[1].isdisjoint((Tag.ARTICLE, *THINGS))
    )


def _is_subordinate(clause: Clause) -> bool:
    """A clause that says what a reminder or a message is about."""
    infinitive = _TO_INFINITIVE.search(clause.text) is not None
    if infinitive and clause.joint == "|":
        return True
    begins = clause.words[0] in _SUBORDINATES or _SHOULD.match(clause.text) is not None
    return (begins or infinitive) and not _orders(clause)


def _orders(clause: Clause) -> bool:
    text = lexicon().strike("events", clause.text)
    return lexicon().find("orders", text) is not None


def _is_condition(clause: Clause) -> bool:
    return clause.words[0] in _CONDITIONS and not _orders(clause)


def _continues_question(clause: Clause) -> bool:
    """ "Is the window open or closed", "… and the door"."""
    tags = lexicon().tags(clause.words[0])
    return (Tag.ARTICLE in tags or len(clause.words) == 1) and lexicon().find(
        "orders", clause.text
    ) is None


def read_clause(clause: Clause) -> Reading:
    """Return the reading of one clause without polite phrases."""
    text = clause.text
    if lexicon().find("hints", text) is not None and any(map(_names, clause.words)):
        return Reading.OPENS
    if lexicon().find("topics", text) is not None or lexicon().find("past", text) is not None:
        return Reading.ASKS
    if lexicon().find("asks", text) is not None and lexicon().find("orders", text) is None:
        return Reading.ASKS
    words = tag_words(clause.words, lexicon())
    tags = frozenset[Tag]().union(*(word.tags for word in words))
    named = [word for word in words if word.guarded]
    removed = any(_names_thing(word) and not word.has(Tag.CLOSE) for word in words)
    unlocks = Tag.UNLOCK in tags and (named or removed or Tag.HARMLESS not in tags)
    if unlocks or _is_idiom(clause):
        return Reading.OPENS
    if named:
        return Reading.CLOSES if _closes(words, tags, text) else Reading.OPENS
    if _opens_unnamed(clause, words, tags, removed=removed):
        return Reading.OPENS
    return Reading.PLACE if removed else Reading.PLAIN


def _is_idiom(clause: Clause) -> bool:
    if _is_purpose(clause):
        return False
    return lexicon().find("idioms", lexicon().strike("spared", clause.text)) is not None


def _is_purpose(clause: Clause) -> bool:
    """ "So the cat can't get out"."""
    return clause.words[0] in _PURPOSES and not _NEGATIONS.isdisjoint(clause.words)


def _closes(words: list[Word], tags: Tags, text: str) -> bool:
    """Whether the verbs of the clause close everything that it names."""
    kinds = {tag for word in words for tag in word.tags if tag in THINGS}
    zero = Tag.ZERO in tags and Tag.OPEN not in tags
    if not zero and (Tag.POSITION in tags or _NUMBER.search(text)):
        return False
    if Tag.WISH not in tags and not zero and _states_closed(words):
        return False
    if not tags.isdisjoint((Tag.OPEN, Tag.UNLOCK, Tag.NOT)) or _has_stray_auf(words):
        return False
    if Tag.RAISE in tags and kinds != {Tag.BOLLARD}:
        return False
    if kinds & {Tag.ALARM, Tag.LOCK} and tags & {Tag.OFF, Tag.STOP}:
        return False
    if Tag.ON in tags and Tag.VALVE in kinds:
        return False
    done = tags | {Tag.CLOSE} if zero else tags
    return all(_CLOSED_BY[kind] & done for kind in kinds)


def _states_closed(words: list[Word]) -> bool:
    """Whether the clause states that something is closed, and orders nothing."""
    return any(
        word.has(Tag.STATE)
        and any(near.has(Tag.CLOSE) for near in words[max(0, at - 1) : at + _MOST_BETWEEN])
        for at, word in enumerate(words)
    )


def _has_stray_auf(words: list[Word]) -> bool:
    """Whether an "auf" is before neither a place nor a number: "schließ die Tür auf Anna kommt"."""
    for at, word in enumerate(words):
        if word.text != "auf":
            continue
        after = words[at + 1 : at + 4]
        number = after and (after[0].text.isdigit() or after[0].has(Tag.ZERO, Tag.TIME, Tag.ARM))
        place = after and after[0].has(Tag.ARTICLE) and not any(map(_names_thing, after))
        if not (number or place):
            return True
    return False


def _names_thing(word: Word) -> bool:
    return _names(word.text)


def _names(word: str) -> bool:
    return not lexicon().tags(word).isdisjoint(THINGS)


def _opens_unnamed(clause: Clause, words: list[Word], tags: Tags, *, removed: bool) -> bool:
    """Whether the clause opens something that it does not name: "lift it", "don't lock up",
    "open up". `removed`: it names a door as a place."""
    if Tag.UNSURE in tags and tags.isdisjoint((Tag.DEVICE, Tag.HARMLESS, Tag.TIME)):
        return True
    if tags >= {Tag.NOT, Tag.CLOSE} and Tag.HARMLESS not in tags and not _is_purpose(clause):
        return True
    at = next((at for at, word in enumerate(words) if word.has(Tag.OPEN)), None)
    if at is None:
        return False
    before = itertools.takewhile(_in_object, reversed(words[:at]))
    after = itertools.takewhile(_in_object, words[at + 1 :])
    if any(word.has(Tag.HARMLESS) for word in (*before, *after)):
        return False
    if all(word.text == "auf" for word in words if word.has(Tag.OPEN)):
        return tags.isdisjoint((Tag.SPARED, Tag.DEVICE))
    return Tag.STATE not in tags or removed


def _in_object(word: Word) -> bool:
    return word.text == "an" or not word.has(Tag.PLACE, Tag.ON)  # "an" is English, too


def opens_something(text: str, more: Iterable[str] = ()) -> bool:
    """Whether a request may open something, or contains one of the owner's words `more`, also as
    a part of a word."""
    if read_request(text) == Reading.OPENS:
        return True
    spellings = spell(text), without_accents(text)
    stems = [stem for word in more for stem in (spell(word), without_accents(word)) if stem]
    return any(stem in words for stem in stems for words in spellings)


def things(text: str) -> frozenset[str]:
    """The words of `text` that name something that opens or guards."""
    words = lexicon().join(spell(text)).split()
    return frozenset(word for word in words if lexicon().tags(word) & {*THINGS})
