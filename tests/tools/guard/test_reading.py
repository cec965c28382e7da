"""How clauses are read together, and the owner's own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.tools.guard.reading import (
    Reading,
    lexicon,
    only_asks,
    opens_something,
    read_request,
    things,
)


@pytest.mark.parametrize(
    "text",
    [
        "close the door and get the garage",
        "Is the gate closed open it",
        "Schließ auf die Tür",
        "Schließ die Tür auf damit Anna rein kann",
        "Wie wär's mit Tür auf",
        "stop closing the garage",
        "keep the door from locking",
        "the front door is locked",
        "let me know if you can open the door",
        "raise the shutters to the top",
        "lower the blinds to 30 percent",
    ],
)
def test_a_closing_word_beside_an_opening_one_does_not_close(text: str) -> None:
    assert read_request(text) == Reading.OPENS


@pytest.mark.parametrize(
    "text",
    [
        "Mach Fenster und Türen zu",
        "lock the front and back doors",
        "is the window open or closed",
        "add a door mat and a curtain rail to the shopping list",
        "close the door so the cat can't get out",
        "turn on the hall light when I open the front door",
        "Sag mir, ob die Tür offen ist, und welche Fenster",
    ],
)
def test_clauses_that_belong_together_are_read_together(text: str) -> None:
    assert read_request(text) != Reading.OPENS


@pytest.mark.parametrize("word", ["scene evening", "Szene Abend", "abend"])
def test_the_owners_words_are_added_to_the_tables(word: str) -> None:
    assert not opens_something("start the Scene Evening now, Szene Abend")
    assert opens_something("start the Scene Evening now, Szene Abend", (word,))


def test_an_owners_word_without_letters_matches_nothing() -> None:
    assert not opens_something("turn on the light", ("!", "  "))


@pytest.mark.parametrize(
    ("text", "only"),
    [("is the door locked?", True), ("turn on the light at the door", True), ("", False),
     ("is the door locked? Start the relay", False), ("close it", False), ("relay on", False)],
)  # fmt: skip
def test_a_request_only_asks_if_each_of_its_clauses_does(text: str, only: bool) -> None:
    assert only_asks(text) == only


def test_the_things_of_a_request_are_its_nouns_that_open_or_guard() -> None:
    assert things("Öffne bitte die Haustür und das Tor") == {"haustuer", "tor"}
    assert things("turn on the light") == frozenset()


@given(st.text(max_size=200))
def test_any_text_has_a_reading(text: str) -> None:
    assert read_request(text) in Reading


@given(st.lists(st.sampled_from("open the door auf mach and . not 50 % lass zu ein".split())))
def test_any_order_of_words_has_a_reading(words: list[str]) -> None:
    assert read_request(" ".join(words)) in Reading


def test_the_tables_are_built_once() -> None:
    assert lexicon() is lexicon()
