"""Requires a second request for a command to the house that opens something. Pure.

It matches words, so it cannot recognise all such commands: a scene with a harmless name may open a
door, too. Do not expose to the box what must never open by voice (docs/tools.md).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

CONFIRM_S = 60.0  # timeout for the second request
_FILLERS = frozenset("a an the my our please now again to".split())


def letters(text: str) -> str:
    """Return `text` in small letters without accents; every other character becomes a space."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    without_accents = "".join(
        letter for letter in decomposed if unicodedata.category(letter) != "Mn"
    )
    return "".join(letter if letter.isalnum() else " " for letter in without_accents)


def opens_something(command: str, stems: Iterable[str]) -> bool:
    """Whether `command` contains one of `stems`, also as a part of a word."""
    normalised = letters(command)
    return any(letters(stem).strip() in normalised for stem in stems)


@dataclass
class ConfirmationGuard:
    """Remembers the last unconfirmed request. `now_s`: of any monotonic clock."""

    stems: tuple[str, ...] = ()
    _words: frozenset[str] = frozenset()
    _turn: int = -1
    _deadline_s: float = -1.0

    def wants_confirmation(self, command: str, turn: int, now_s: float) -> bool:
        """Whether `command` needs a second request. It must come in the same words and in another
        turn, so that the model cannot confirm its own call."""
        if not opens_something(command, self.stems):
            return False
        words = frozenset(letters(command).split()) - _FILLERS
        if words == self._words and turn != self._turn and now_s <= self._deadline_s:
            self._deadline_s = -1.0
            return False
        self._words, self._turn, self._deadline_s = words, turn, now_s + CONFIRM_S
        return True
