"""Parsing of English words for numbers."""

from __future__ import annotations

import pytest

from appliance.language.catalogue import english
from appliance.tools.spoken_numbers import parse_number
from appliance.tools.spoken_time import spoken_number


def test_every_number_that_the_box_speaks_is_parsed_back() -> None:
    for number in range(1, 100):
        assert parse_number(spoken_number(number, english())) == number


@pytest.mark.parametrize(
    ("words", "number"),
    [("an", 1), ("a", 1), ("half an", 0.5), ("half a", 0.5), ("two and a half", 2.5),
     ("twenty five", 25), ("10", 10), ("2.5", 2.5), ("an and a half", 1.5)],
)  # fmt: skip
def test_a_number_is_parsed(words: str, number: float) -> None:
    assert parse_number(words) == number


@pytest.mark.parametrize("words", ["", "ages", "five six", "twenty twelve", "more", "-3", "1e9"])
def test_an_invalid_number_gives_none(words: str) -> None:
    assert parse_number(words) is None
