"""Translates msgspec's error about a value into a sentence of the catalogue, for the page.

Pure. msgspec checks the values by the types of the settings; this module only maps its messages.
A message that is not recognised gets no sentence, and the page shows it unchanged.
"""

from __future__ import annotations

import re

from appliance.errors import ShownAs

_KINDS = {"int": "whole", "float": "number", "bool": "switch", "str": "text"}


class ValueRefused(ValueError):
    """A value failed one of our own checks; `shown` is its sentence."""

    def __init__(self, problem: str, shown: ShownAs) -> None:
        super().__init__(problem)
        self.shown = shown


def shown_as(problem: str, key: str, choices: str, cause: BaseException | None) -> ShownAs | None:
    """The sentence for a refused value, or None. `problem`: msgspec's message, without the place;
    `key`: of the setting; `choices`: its allowed values, "" if it has no list of them; `cause`: the
    error that msgspec has wrapped."""
    if isinstance(cause, ValueRefused):
        return cause.shown
    if choices:
        value = problem.removeprefix("Invalid enum value ").strip("'")[:40]
        return ShownAs.of("page-wrong-choice", setting=key, value=value, choices=choices)
    if found := re.fullmatch(r"Expected `(int|float|bool|str)`, got `\w+`", problem):
        return ShownAs.of("page-wrong-type", setting=key, kind=_KINDS[found[1]])
    if found := re.fullmatch(r"Expected `(?:int|float)` >=? ?(-?[\d.]+)", problem):
        return ShownAs.of("page-wrong-least", setting=key, limit=found[1].removesuffix(".0"))
    if found := re.fullmatch(r"Expected `(?:int|float)` <=? ?(-?[\d.]+)", problem):
        return ShownAs.of("page-wrong-most", setting=key, limit=found[1].removesuffix(".0"))
    if found := re.fullmatch(r"Expected `str` of length <= (\d+)", problem):
        return ShownAs.of("page-wrong-longer", setting=key, most=int(found[1]))
    if problem.startswith("Expected `str` matching regex"):
        return ShownAs.of("page-wrong-form", setting=key)
    return None
