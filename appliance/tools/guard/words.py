"""Gives the words of a clause their meaning in it: verb or noun, particle or preposition. Pure.

Out: the words with their tags, without the tags of a door that is only a place ("the lamp at the
door") or the first part of another thing ("garage light").
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.tools.guard.lexicon import THINGS, Lexicon, Tag

_GUARDED = frozenset(THINGS)
_OTHER = frozenset((Tag.DEVICE, Tag.HARMLESS))
_PARTICLES = {"auf": Tag.OPEN, "an": Tag.ON, "ein": Tag.ON, "aus": Tag.OFF, "ab": Tag.OFF,
              "zu": Tag.CLOSE, "aan": Tag.ARM, "uit": Tag.OFF}  # fmt: skip
_END = frozenset((Tag.NEUTRAL, Tag.PLACE, Tag.STATE, Tag.WISH))
_BEFORE_VERB = frozenset("to please you double also just then now i we and must should ll can "
                         "could me quickly auto".split())  # fmt: skip
_AFTER_NOUN = frozenset("on off of at open for is to release status state out s".split())
_SWITCHED = frozenset("turn turns switch switched put power flip turned leave".split())
_SHUTS_UP = frozenset("lock close shut bolt seal board".split())  # "up" after them raises nothing
_NEGATED = frozenset("don can isn aren won wouldn doesn didn shouldn couldn wasn".split())
_LOCKS_WITH_AB = ("sperr", "riegel", "riegle")
_MOST_BETWEEN = 3  # words between a preposition and its noun: "at the old front door"


@dataclass(frozen=True)
class Word:
    """A word of a clause and its tags there."""

    text: str
    tags: frozenset[Tag]

    def has(self, *tags: Tag) -> bool:
        return not self.tags.isdisjoint(tags)

    @property
    def guarded(self) -> bool:
        return not self.tags.isdisjoint(_GUARDED)

    def without(self, tags: frozenset[Tag]) -> Word:
        return replace(self, tags=self.tags - tags)


def tag_words(words: tuple[str, ...], lexicon: Lexicon) -> list[Word]:
    """The words with their tags in this clause."""
    tagged = [Word(word, lexicon.tags(word)) for word in words]
    tagged = [_in_context(tagged, at) for at in range(len(tagged))]
    return _without_places(_without_first_parts(_without_clock(tagged)))


def _in_context(words: list[Word], at: int) -> Word:
    word = words[at]
    before = words[at - 1].text if at else ""
    after = words[at + 1] if at + 1 < len(words) else None
    if word.text in _PARTICLES:
        return _particle(words, at)
    if word.has(Tag.FASTEN):
        verb = before in _BEFORE_VERB or not at
        if verb and not (after is not None and after.text in _AFTER_NOUN and not before):
            return Word(word.text, frozenset((Tag.CLOSE,)))
    if word.text == "on":
        ends = before in _SWITCHED or after is None or after.has(Tag.NEUTRAL, Tag.PLACE)
        return Word("on", frozenset((Tag.ON if ends else Tag.PLACE,)))
    if word.text == "over" and after is None:
        return Word("over", frozenset((Tag.CLOSE,)))
    if word.text == "in" and (after is None or after.has(Tag.NEUTRAL)):
        return Word("in", frozenset((Tag.RETRACT,)))
    if word.text == "up" and (before in _SHUTS_UP or words[0].text in _SHUTS_UP):
        return Word("up", frozenset())
    if word.text == "t" and before in _NEGATED:
        return Word("t", frozenset((Tag.NOT,)))
    return word


def _particle(words: list[Word], at: int) -> Word:
    """A German particle at the end of its clause is part of the verb, elsewhere a preposition."""
    word = words[at].text
    after = words[at + 1] if at + 1 < len(words) else None
    if after is not None and not after.has(*_END):
        joined = word == "zu" and after.text in ("machen", "ziehen", "fahren", "drehen", "sperren")
        tag = Tag.CLOSE if joined else Tag.PLACE if word in ("an", "auf") else None
        return Word(word, frozenset(() if tag is None else (tag,)))
    tags = {_PARTICLES[word]}
    if word == "ab" and any(other.text.startswith(_LOCKS_WITH_AB) for other in words):
        tags = {Tag.CLOSE}
    if word == "ein":
        tags.add(Tag.RETRACT)
    return Word(word, frozenset(tags))


def _without_clock(words: list[Word]) -> list[Word]:
    """Without the tags of an alarm that is an alarm clock's."""
    timed = any(word.has(Tag.TIME) or word.text.isdigit() for word in words)
    others = any((word.has(Tag.ALARM) and not _is_alarm(word)) or word.has(Tag.SIREN, Tag.UNLOCK)
                 for word in words)  # fmt: skip
    if not timed or others:
        return words
    off = any(word.has(Tag.OFF) and word.text not in ("cancel", "loesch", "loesche", "loeschen")
              for word in words)  # fmt: skip
    armed = any(word.text in ("arm", "armed", "away", "scharf", "abwesend") for word in words)
    return [
        word.without(_GUARDED)
        if _is_alarm(word)
        and not armed
        and (not off or any(map(_times, words[max(0, at - 2) : at])))
        else word
        for at, word in enumerate(words)
    ]


def _is_alarm(word: Word) -> bool:
    return word.text in ("alarm", "alarms", "alarme")


def _times(word: Word) -> bool:
    return word.has(Tag.TIME) or word.text.isdigit()


def _without_first_parts(words: list[Word]) -> list[Word]:
    """In "garage door light" only the light counts."""
    result = list(words)
    for at, word in enumerate(words):
        if not word.guarded:
            continue
        for following in words[at + 1 : at + 3]:
            if following.guarded or following.has(*_OTHER):
                result[at] = word.without(_GUARDED)
                break
            if following.tags:
                break
    return result


def _without_places(words: list[Word]) -> list[Word]:
    """In "the lamp at the door" only the lamp counts."""
    places = {at for at, word in enumerate(words) if word.guarded and _is_place(words, at)}
    elsewhere = any(
        word.guarded or word.has(Tag.DEVICE) for at, word in enumerate(words) if at not in places
    )
    if not elsewhere:
        return words
    return [word.without(_GUARDED) if at in places else word for at, word in enumerate(words)]


def _is_place(words: list[Word], at: int) -> bool:
    for before in reversed(words[max(0, at - 1 - _MOST_BETWEEN) : at]):
        if before.has(Tag.PLACE):
            return True
        if before.tags and not before.has(Tag.ARTICLE, *_GUARDED):
            return False
    return False
