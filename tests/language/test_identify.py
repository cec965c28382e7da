"""The language of a short sentence is identified; an ambiguous one is not guessed."""

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
def test_95_percent_of_short_sentences_are_identified_and_none_wrongly(
    identifier: LanguageIdentifier,
) -> None:
    found = [(identifier.identify(sentence), language) for language, sentence in SENTENCES]
    assert len(found) >= 200
    assert [pair for pair in found if pair[0] not in ("", pair[1])] == []
    assert sum(identified == language for identified, language in found) >= 0.95 * len(found)


@pytest.mark.parametrize("text", ["", "42.", "Okay.", "Ja.", "Done.", "Berlin.", "…", "\U0001f600"])
@pytest.mark.long
def test_a_text_too_short_to_identify_is_not_guessed(
    identifier: LanguageIdentifier, text: str
) -> None:
    assert identifier.identify(text) == ""


def test_before_the_model_is_loaded_no_language_is_identified() -> None:
    assert LanguageIdentifier().identify("This is surely English.") == ""


@pytest.mark.long
def test_an_identifier_limited_to_two_languages_returns_only_those() -> None:
    few = LanguageIdentifier(("de", "en"))
    few.start()
    few.wait()
    assert few.identify("Das Licht in der Küche brennt.") == "de"
    assert few.identify("Het licht in de keuken is aan.") in ("", "de", "en")


def test_with_a_single_language_no_model_is_loaded() -> None:
    threads = threading.active_count()
    single = LanguageIdentifier(("en",))
    single.start()
    assert threading.active_count() == threads
    single.wait()
    assert single.identify("This is surely English.") == ""


@pytest.mark.long
def test_norwegian_has_one_name(identifier: LanguageIdentifier) -> None:
    assert identifier.identify("Jeg vet ikke hva klokka er akkurat nå.") == "nb"


def test_every_identified_language_is_in_the_table_of_languages() -> None:
    assert NAMES.keys() >= DISTINGUISHED
