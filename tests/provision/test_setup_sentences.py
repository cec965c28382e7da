"""What the box says about its network and its set-up can be understood by ear."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.language.catalogue import BoxSentence, catalogue, english, languages
from appliance.provision import password_words, setup_sentences
from appliance.provision.setup_sentences import (
    called,
    card_says,
    invitation,
    misnamed,
    other_name,
)

ENGLISH = english()
PASSWORD = ("amber", "canoe", "maple", "tulip", "zebra")


def test_an_invitation_spells_digits_and_pauses_after_each_word() -> None:
    text = invitation("I have no network.", "Interlude 4711", PASSWORD, ENGLISH)
    assert text.startswith("I have no network. ")
    assert "named Interlude 4 7 1 1." in text
    assert "Amber. Canoe. Maple. Tulip. Zebra." in text
    assert "10 dot 42 dot 0 dot 1" in text


@given(st.integers(1000, 9999), st.tuples(*[st.from_regex(r"[a-z]{3,8}", fullmatch=True)] * 5))
@pytest.mark.long
def test_every_digit_of_an_invitation_is_spoken_separately(
    number: int, words: tuple[str, ...]
) -> None:
    text = invitation("", f"Interlude {number}", words, ENGLISH)
    assert re.findall(r"\d+", text) == [*str(number), "10", "42", "0", "1"]


def test_a_network_name_is_spoken_with_its_dots_and_an_unknown_one_is_omitted() -> None:
    assert called("interlude-2.local", ENGLISH) == "My name there is interlude dash 2 dot local."
    assert called("", ENGLISH) == ""


def test_a_name_conflict_is_announced_with_both_names() -> None:
    text = other_name("kitchen", "kitchen-2.local", ENGLISH)
    assert "is called kitchen, too. My name there is kitchen dash 2 dot local." in text


@pytest.mark.parametrize(
    ("problem", "spoken"),
    [
        ("interlude.yaml is no text.", "interlude dot yaml is no text."),
        ("There is no mode `loud`. There are open.", "There is no mode `loud`. There are open."),
        (
            misnamed("interlude.yaml.txt", ENGLISH),
            "The file interlude dot yaml dot txt on the card",
        ),
    ],
)
def test_the_dots_of_file_names_are_spoken_and_full_stops_are_not(
    problem: str, spoken: str
) -> None:
    assert spoken in card_says(problem, ENGLISH)


@pytest.mark.parametrize("language", languages())
def test_no_sentence_contains_a_character_that_is_not_spoken(language: str) -> None:
    words = catalogue(language)
    fixed = [value for value in vars(setup_sentences).values() if isinstance(value, BoxSentence)]
    assert setup_sentences.NEEDS_SEED in fixed
    password = password_words.password(language)
    for sentence in (
        *(each.text(words) for each in fixed),
        invitation("Hello.", "Interlude 4711", password, words),
    ):
        assert re.fullmatch(r"[\w ,.:'-]+", sentence)


def test_in_german_the_password_consists_of_digits_spoken_one_by_one() -> None:
    password = password_words.password("de")
    assert re.fullmatch(r"[0-9]{15}", "".join(password))
    text = invitation("", "Interlude 4711", password, catalogue("de"))
    groups = ". ".join(" ".join(group) for group in password)
    assert f"fünfzehn Ziffern: {groups}. Öffne dann 10 Punkt 42 Punkt 0 Punkt 1" in text
