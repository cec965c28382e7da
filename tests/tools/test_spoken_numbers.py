"""Numbers in words, there and back."""

from __future__ import annotations

import pytest

from appliance.tools.spoken_numbers import in_words, ordinal, parse_number


@pytest.mark.parametrize(
    ("number", "words"), [(0, "zero"), (7, "seven"), (13, "thirteen"), (20, "twenty"),
                          (21, "twenty-one"), (99, "ninety-nine"), (100, "100")]
)  # fmt: skip
def test_a_number_is_said(number: int, words: str) -> None:
    assert in_words(number) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "first"), (2, "second"), (3, "third"), (4, "fourth"), (5, "fifth"), (8, "eighth"),
     (9, "ninth"), (12, "twelfth"), (20, "twentieth"), (21, "twenty-first"), (30, "thirtieth"),
     (31, "thirty-first")],
)  # fmt: skip
def test_a_day_of_the_month_is_said(number: int, words: str) -> None:
    assert ordinal(number) == words


def test_every_number_that_is_said_is_understood() -> None:
    for number in range(1, 100):
        assert parse_number(in_words(number)) == number


@pytest.mark.parametrize(
    ("words", "number"),
    [("an", 1), ("a", 1), ("half an", 0.5), ("half a", 0.5), ("two and a half", 2.5),
     ("twenty five", 25), ("10", 10), ("2.5", 2.5), ("an and a half", 1.5)],
)  # fmt: skip
def test_a_number_is_understood(words: str, number: float) -> None:
    assert parse_number(words) == number


@pytest.mark.parametrize("words", ["", "ages", "five six", "twenty twelve", "more", "-3", "1e9"])
def test_what_is_no_number_is_none(words: str) -> None:
    assert parse_number(words) is None
