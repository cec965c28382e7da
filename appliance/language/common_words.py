"""Identifies which of the box's own languages a text is in by common words, without a model.

It selects the language of what the box says by itself, so only languages with a catalogue matter.
The speaker process identifies all others (identify.py).
"""

from __future__ import annotations

import functools
import re

from appliance.language.catalogue import catalogue, languages

KEY = "common-words"


def language_by_words(text: str) -> str:
    """ISO 639-1; "" unless one language has more of its common words in `text` than each other."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    found = sorted(
        ((sum(word in own for word in words), code) for code, own in _common().items()),
        reverse=True,
    )
    if not found or not found[0][0] or (len(found) > 1 and found[1][0] == found[0][0]):
        return ""
    return found[0][1]


@functools.cache
def _common() -> dict[str, frozenset[str]]:
    """The common words of each language whose own file has them."""
    all_of_them = {code: catalogue(code) for code in languages()}
    return {
        code: frozenset(words.list("common-words"))
        for code, words in all_of_them.items()
        if KEY in words.messages
    }
