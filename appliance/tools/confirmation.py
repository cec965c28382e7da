"""Which requests to the house open something: they are done only when asked for twice. Pure.

By words, so it cannot know all: a scene with a harmless name may open a door as well. What must
never open by voice is best not exposed to the box (docs/tools.md).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

CONFIRM_S = 60.0  # for the second time
_FILLERS = frozenset("a an the my our please now again to".split())


def letters(text: str) -> str:
    """Small letters without accents, everything else a space."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    kept = "".join(letter for letter in apart if unicodedata.category(letter) != "Mn")
    return "".join(letter if letter.isalnum() else " " for letter in kept)


def opens_something(command: str, stems: Iterable[str]) -> bool:
    """Whether one of `stems` is in it, also as a part of a word."""
    plain = letters(command)
    return any(letters(stem).strip() in plain for stem in stems)


@dataclass
class ConfirmationGuard:
    """Remembers what was asked for once. `now_s`: of any clock that does not run backwards."""

    stems: tuple[str, ...] = ()
    _words: frozenset[str] = frozenset()
    _turn: int = -1
    _by_s: float = -1.0

    def wants_confirmation(self, command: str, turn: int, now_s: float) -> bool:
        """Whether `command` is to be asked for once more. The second time has to come in another
        turn, so that no answer of the model's can confirm itself, and in the same words."""
        if not opens_something(command, self.stems):
            return False
        words = frozenset(letters(command).split()) - _FILLERS
        if words == self._words and turn != self._turn and now_s <= self._by_s:
            self._by_s = -1.0
            return False
        self._words, self._turn, self._by_s = words, turn, now_s + CONFIRM_S
        return True
