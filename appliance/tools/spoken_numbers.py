"""Parses numbers in English words, as far as lengths of time need them. Pure.

For spoken output, number words are in the catalogue of each language (spoken_time.py).
"""

from __future__ import annotations

import re

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()

_VALUES = {word: number for number, word in enumerate(_ONES)}
_VALUES |= {word: 10 * (tens + 2) for tens, word in enumerate(_TENS)}
_VALUES |= {"a": 1, "an": 1}


def parse_number(text: str) -> float | None:
    """Parse a number in words or digits: "five", "twenty-five", "an", "2.5", "ten and a half".

    Return None if it is none.
    """
    words = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", text.lower()).strip()
    half = 0.5 if words.endswith(" and a half") or words in ("half", "half a", "half an") else 0.0
    words = re.sub(r"(?: and a half|half an?|half)$", "", words).strip()
    if not words:
        return half or None
    if re.fullmatch(r"[0-9]{1,4}(?:\.[0-9]{1,3})?", words):
        return float(words) + half
    total = 0
    last = 100
    for word in words.split():
        value = _VALUES.get(word)
        if value is None or not (last == 100 or (last >= 20 and 0 < value < 10)):
            return None
        total, last = total + value, value
    return total + half
