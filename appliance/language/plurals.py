"""The plural category of an integer: the cardinal rules of Unicode's CLDR 44, by language. Pure.

It has the languages of Piper's voices; all others get "other", which is right for a language
without plurals. A test compares the rules with Babel's copy.
"""

from __future__ import annotations

from collections.abc import Callable

Rule = Callable[[int], str]


def _one(n: int) -> str:
    return "one" if n == 1 else "other"


def _zero_or_one(n: int) -> str:
    return "one" if n in (0, 1) else "other"


def _millions(n: int, singular: tuple[int, ...]) -> str:
    if n in singular:
        return "one"
    return "many" if n and n % 1_000_000 == 0 else "other"


def _slavic(n: int) -> str:
    if n % 10 == 1 and n % 100 != 11:
        return "one"
    return "few" if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else "many"


def _south_slavic(n: int) -> str:
    return "other" if (found := _slavic(n)) == "many" else found


def _polish(n: int) -> str:
    return "one" if n == 1 else "many" if _slavic(n) == "one" else _slavic(n)


def _czech(n: int) -> str:
    return "one" if n == 1 else "few" if n in (2, 3, 4) else "other"


def _slovenian(n: int) -> str:
    return {1: "one", 2: "two", 3: "few", 4: "few"}.get(n % 100, "other")


def _romanian(n: int) -> str:
    if n == 1:
        return "one"
    return "few" if n == 0 or n % 100 in range(1, 20) else "other"


def _latvian(n: int) -> str:
    if n % 10 == 0 or n % 100 in range(11, 20):
        return "zero"
    return "one" if n % 10 == 1 else "other"


def _icelandic(n: int) -> str:
    return "one" if n % 10 == 1 and n % 100 != 11 else "other"


def _arabic(n: int) -> str:
    if n < 3:
        return ("zero", "one", "two")[n]
    if n % 100 in range(3, 11):
        return "few"
    return "many" if n % 100 in range(11, 100) else "other"


def _welsh(n: int) -> str:
    return {0: "zero", 1: "one", 2: "two", 3: "few", 6: "many"}.get(n, "other")


RULES: dict[str, Rule] = {
    **dict.fromkeys("bg ca da de el en es et eu fi hu it ka lb ml nb ne nl nn no sq sv sw te tr ur"
                    .split(), _one),
    **dict.fromkeys(("bn", "fa", "hi", "hy"), _zero_or_one),
    **dict.fromkeys(("ca", "es", "it"), lambda n: _millions(n, (1,))),
    **dict.fromkeys(("fr", "pt"), lambda n: _millions(n, (0, 1))),
    **dict.fromkeys(("be", "ru", "uk"), _slavic),
    **dict.fromkeys(("bs", "hr", "sr"), _south_slavic),
    **dict.fromkeys(("cs", "sk"), _czech),
    **dict.fromkeys(("is", "mk"), _icelandic),
    "ar": _arabic, "cy": _welsh, "lv": _latvian, "pl": _polish, "ro": _romanian,
    "sl": _slovenian,
}  # fmt: skip


def plural(language: str, n: int) -> str:
    """zero, one, two, few, many or other. `language`: ISO 639-1; `n`: 0 or more."""
    rule = RULES.get(language)
    return "other" if rule is None else rule(n)
