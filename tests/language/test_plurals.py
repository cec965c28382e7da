"""Plural rules, compared with Babel's copy of Unicode's."""

from __future__ import annotations

import pytest
from babel import Locale

from appliance.language.plurals import RULES, plural

NUMBERS = (*range(250), 1000, 1001, 1002, 1_000_000, 2_000_000, 1_000_001)


@pytest.mark.parametrize("language", sorted(RULES))
def test_each_plural_rule_equals_unicodes(language: str) -> None:
    rule = Locale(language).plural_form
    assert [(n, plural(language, n)) for n in NUMBERS] == [(n, rule(n)) for n in NUMBERS]


def test_a_language_without_a_rule_has_one_form() -> None:
    assert {plural("ja", n) for n in NUMBERS} == {"other"}
