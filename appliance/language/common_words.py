"""Which of the box's own languages a text is in, by its small words. A few words, and no model.

For what the box says by itself before anybody has answered: only those languages matter that it has
sentences in. The speaker tells all others apart (identify.py).
"""

from __future__ import annotations

import functools
import re

from appliance.language.catalogue import catalogue, languages

KEY = "common-words"


def language_by_words(text: str) -> str:
    """ISO 639-1; "" where no language has more of its small words in `text` than all others."""
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
    """Those of each language whose own file has them."""
    all_of_them = {code: catalogue(code) for code in languages()}
    return {
        code: frozenset(words.list("common-words"))
        for code, words in all_of_them.items()
        if KEY in words.messages
    }
