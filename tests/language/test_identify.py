"""Short sentences are told apart, and what cannot be told is not guessed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from appliance.language.codes import NAMES
from appliance.language.identify import DISTINGUISHED, LanguageIdentifier

SENTENCES = [
    (language, sentence)
    for line in (Path(__file__).parent / "short_sentences.txt").read_text("utf-8").splitlines()
    if "\t" in line and not line.startswith("#")
    for language, sentence in [line.split("\t")]
]


@pytest.fixture(scope="module")
def identifier() -> LanguageIdentifier:
    made = LanguageIdentifier()
    made.start()
    made.wait()
    return made


@pytest.mark.long
def test_of_short_sentences_at_least_95_of_100_are_told_and_none_is_taken_for_another(
    identifier: LanguageIdentifier,
) -> None:
    found = [(identifier.identify(sentence), language) for language, sentence in SENTENCES]
    assert len(found) >= 200
    assert [each for each in found if each[0] not in ("", each[1])] == []
    assert sum(said == language for said, language in found) >= 0.95 * len(found)


@pytest.mark.parametrize("text", ["", "42.", "Okay.", "Ja.", "Done.", "Berlin.", "…", "\U0001f600"])
def test_what_is_too_short_to_tell_is_not_guessed(
    identifier: LanguageIdentifier, text: str
) -> None:
    assert identifier.identify(text) == ""


def test_nothing_is_told_before_the_model_is_there() -> None:
    assert LanguageIdentifier().identify("This is surely English.") == ""


@pytest.mark.long
def test_one_that_knows_few_languages_tells_those_alone() -> None:
    few = LanguageIdentifier(("de", "en"))
    few.start()
    few.wait()
    assert few.identify("Das Licht in der Küche brennt.") == "de"
    assert few.identify("Het licht in de keuken is aan.") in ("", "de", "en")


def test_of_a_single_language_nothing_is_told_and_no_model_is_loaded() -> None:
    threads = threading.active_count()
    one = LanguageIdentifier(("en",))
    one.start()
    assert threading.active_count() == threads
    one.wait()
    assert one.identify("This is surely English.") == ""


def test_norwegian_has_one_name(identifier: LanguageIdentifier) -> None:
    assert identifier.identify("Jeg vet ikke hva klokka er akkurat nå.") == "nb"


def test_every_language_that_is_told_is_one_that_espeak_speaks() -> None:
    assert NAMES.keys() >= DISTINGUISHED
