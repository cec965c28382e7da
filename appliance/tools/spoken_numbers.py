"""Numbers in words, both ways, as far as clocks, days and lengths of time need them. Pure."""

from __future__ import annotations

import re

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_FIRSTS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
           "nine": "ninth", "twelve": "twelfth", "twenty": "twentieth",
           "thirty": "thirtieth"}  # fmt: skip
MOST = 9999

_VALUES = {word: number for number, word in enumerate(_ONES)}
_VALUES |= {word: 10 * (tens + 2) for tens, word in enumerate(_TENS)}
_VALUES |= {"a": 1, "an": 1}


def in_words(number: int) -> str:
    """0 to 99 in words; beyond them in digits, which a voice reads well enough."""
    if not 0 <= number < 100:
        return str(number)
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")


def ordinal(number: int) -> str:
    """1 to 39: the twenty-first."""
    head, hyphen, last = in_words(number).rpartition("-")
    return head + hyphen + _FIRSTS.get(last, last + "th")


def parse_number(text: str) -> float | None:
    """The number that words or digits mean: "five", "twenty-five", "an", "2.5", "ten and a half".

    None if they mean none.
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
