"""What the box says aloud of its network and its set-up can be understood by ear."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.provision import setup_sentences
from appliance.provision.setup_sentences import (
    by_cable,
    called,
    card_says,
    invitation,
    misnamed,
    other_name,
)

PASSWORD = ("amber", "canoe", "maple", "tulip", "zebra")


def test_an_invitation_says_digits_one_by_one_and_each_word_as_a_sentence() -> None:
    said = invitation("I have no network.", "Interlude 4711", PASSWORD)
    assert said.startswith("I have no network. ")
    assert "named Interlude 4 7 1 1." in said
    assert "Amber. Canoe. Maple. Tulip. Zebra." in said
    assert "10 dot 42 dot 0 dot 1" in said


@given(st.integers(1000, 9999), st.tuples(*[st.from_regex(r"[a-z]{3,8}", fullmatch=True)] * 5))
def test_no_number_of_an_invitation_is_said_as_one(number: int, words: tuple[str, ...]) -> None:
    said = invitation("", f"Interlude {number}", words)
    assert re.findall(r"\d+", said) == [*str(number), "10", "42", "0", "1"]


def test_a_name_in_the_network_is_said_with_its_dots_and_one_that_is_unknown_is_not() -> None:
    assert called("interlude-2.local") == "My name there is interlude dash 2 dot local."
    assert called("") == ""
    assert by_cable("") == "I am in your network by cable."
    assert by_cable("kitchen.local").endswith("My name there is kitchen dot local.")


def test_two_machines_of_one_name_are_both_named() -> None:
    said = other_name("kitchen", "kitchen-2.local")
    assert "is called kitchen, too. My name there is kitchen dash 2 dot local." in said


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("interlude.yaml is no text.", "interlude dot yaml is no text."),
        ("There is no mode `loud`. There are open.", "There is no mode `loud`. There are open."),
        (misnamed("interlude.yaml.txt"), "The file interlude dot yaml dot txt on the card"),
    ],
)
def test_of_a_problem_the_dots_of_names_are_said_and_those_of_sentences_are_not(
    problem: str, said: str
) -> None:
    assert said in card_says(problem)


def test_no_sentence_has_a_sign_that_is_not_spoken() -> None:
    fixed = [value for name, value in vars(setup_sentences).items() if name.isupper()]
    whole = [value for value in fixed if value.endswith(".") and " " in value]
    assert setup_sentences.NEEDS_SEED in whole
    for sentence in (*whole, invitation("Hello.", "Interlude 4711", PASSWORD)):
        assert re.fullmatch(r"[\w ,.:'-]+", sentence)
