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
    scores = sorted(
        ((sum(word in common for word in words), code) for code, common in _common().items()),
        reverse=True,
    )
    if not scores or not scores[0][0] or (len(scores) > 1 and scores[1][0] == scores[0][0]):
        return ""
    return scores[0][1]


@functools.cache
def _common() -> dict[str, frozenset[str]]:
    """The common words of each language whose own file has them."""
    catalogues = {code: catalogue(code) for code in languages()}
    return {
        code: frozenset(words.list("common-words"))
        for code, words in catalogues.items()
        if KEY in words.messages
    }
