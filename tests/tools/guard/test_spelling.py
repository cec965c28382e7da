"""Which misspelt words are corrected."""

from __future__ import annotations

import pytest

from appliance.tools.guard.reading import read_request
from appliance.tools.guard.spelling import REAL_WORDS, correct, one_mistake


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("unlcok", "unlock"),
        ("unlok", "unlock"),
        ("unllock", "unlock"),
        ("entrigeln", "entriegeln"),
        ("haustuere", "haustuer"),
        ("kuechenfesnter", "kuechenfenster"),
        ("alrm", "alarm"),
    ],
)
def test_one_mistake_is_corrected(word: str, known: str) -> None:
    assert correct(word) == known


@pytest.mark.parametrize("word", ["certain", "value", "schluss", "vorgang", "pen", "ulnolck"])
def test_other_words_stay_as_they_are(word: str) -> None:
    assert correct(word) == word


def test_a_correction_opens_and_never_closes() -> None:
    assert read_request("unlcok everything").name == "OPENS"
    assert read_request("clse everything").name == "PLAIN"


@pytest.mark.parametrize("word", sorted(REAL_WORDS))
def test_a_real_word_is_never_corrected(word: str) -> None:
    assert correct(word) == word


@pytest.mark.parametrize(
    ("word", "known", "one"),
    [("gate", "gate", False), ("gaet", "gate", True), ("gat", "gate", True),
     ("gaate", "gate", True), ("gaze", "gate", True), ("gatte", "gate", True),
     ("aget", "gate", False), ("", "g", True)],
)  # fmt: skip
def test_what_one_mistake_is(word: str, known: str, one: bool) -> None:
    assert one_mistake(word, known) == one
