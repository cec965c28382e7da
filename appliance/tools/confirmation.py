"""Requires a second request for a command to the house that may open something. Pure.

Both requests must be chosen: the owner opened the floor for this very turn. The second one must
also be the owner's by more than the model's call: by typed words, by a press, or by recognised
words that name what is opened.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import Enum, auto

from appliance.language.catalogue import catalogue, languages
from appliance.messages.commands import Opening
from appliance.tools.guard.clauses import spell
from appliance.tools.guard.reading import opens_something, things

CONFIRM_S = 60.0  # timeout for the second request
_SENTENCE = 4  # words; a recogniser of few words finds fewer in any sound
_FILLERS = frozenset("a an the my our please now again to der die das den bitte jetzt".split())


class Decision(Enum):
    """What becomes of a command to the house.

    SEND        it is sent; nothing in it needs a confirmation
    CONFIRMED   it is sent as confirmed by the owner
    CALL_FIRST  refused: nobody opened the floor for it
    ASK_AGAIN   it waits for a second request
    PRESS       the second request is not certainly the owner's: a press is missing
    LEFT        the owner said no
    """

    SEND = auto()
    CONFIRMED = auto()
    CALL_FIRST = auto()
    ASK_AGAIN = auto()
    PRESS = auto()
    LEFT = auto()


@dataclass(frozen=True)
class Asker:
    """How the owner asked. `turn`: in which the question began. `words`: the owner's own, typed or
    recognised; "": they are unknown, since only the model heard them."""

    turn: int = 0
    opening: Opening = ""
    words: str = ""


@dataclass
class ConfirmationGuard:
    """Remembers the last unconfirmed request. `now_s`: of any monotonic clock.

    `more`: the owner's own words beside the tables of tools/guard.
    """

    more: tuple[str, ...] = ()
    _words: frozenset[str] = frozenset()
    _turn: int = -1
    _deadline_s: float = -1.0

    def opens(self, command: str) -> bool:
        """Whether `command` may open something, as far as its words tell."""
        return opens_something(command, self.more)

    def decide(self, command: str, asker: Asker, now_s: float) -> Decision:
        """Decide on a command. A second request must come in the same words and in another turn,
        so that the model cannot confirm its own call."""
        same = _content(command) == self._words and now_s <= self._deadline_s
        if not same and not self.opens(command):
            return Decision.SEND
        if not asker.opening:
            return Decision.CALL_FIRST
        if not same or asker.turn == self._turn:
            self.expect(command, asker, now_s)
            return Decision.ASK_AGAIN
        if refuses(asker.words, command):
            self._deadline_s = -1.0
            return Decision.LEFT
        if not _is_certain(command, asker):
            return Decision.PRESS
        self._deadline_s = -1.0
        return Decision.CONFIRMED

    def expect(self, command: str, asker: Asker, now_s: float) -> None:
        """Wait for the second request of `command`."""
        self._words, self._turn = _content(command), asker.turn
        self._deadline_s = now_s + CONFIRM_S


def refuses(words: str, command: str = "") -> bool:
    """Whether the owner's `words` say no. Words of the command itself ("stop the siren") do not."""
    return _contains(words, "words-refuse", beside=command)


def _is_certain(command: str, asker: Asker) -> bool:
    """Whether the second request is the owner's. A press is, unless a whole sentence was recognised
    that is about something else: it follows the box's question, which repeats the command. After
    the wake word, recognised words must name the thing. Of typed words an assent suffices."""
    if asker.opening == "hand" and len(asker.words.split()) < _SENTENCE:
        return True
    named = not things(asker.words).isdisjoint(things(command))
    if asker.opening == "wake_word":
        return named
    return (
        named
        or _contains(asker.words, "words-agree")
        or opens_something(asker.words)
        or not _content(asker.words).isdisjoint(_content(command))
    )


def _contains(words: str, key: str, beside: str = "") -> bool:
    """Whether `words` contain a phrase of the catalogues' list `key` that `beside` lacks."""
    said, command = f" {_plain(words)} ", f" {_plain(beside)} "
    return any(f" {phrase} " in said and f" {phrase} " not in command for phrase in _phrases(key))


@functools.cache
def _phrases(key: str) -> tuple[str, ...]:
    return tuple(_plain(phrase) for code in languages() for phrase in catalogue(code).list(key))


def _plain(text: str) -> str:
    return spell(text).replace("|", " ").strip()


def _content(text: str) -> frozenset[str]:
    return frozenset(_plain(text).split()) - _FILLERS
