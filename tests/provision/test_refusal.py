"""Errors in typed values: in the language of the reader, and in English for the log."""

from __future__ import annotations

import pytest

from appliance.errors import SeedRefused
from appliance.language.catalogue import BoxSentence, catalogue
from appliance.provision.refusal import SayableRefusal, sentence_of, told
from appliance.provision.seed import Seed, WifiNetwork, check

GERMAN = catalogue("de")


@pytest.mark.parametrize(
    ("seed", "english", "german"),
    [
        (Seed(hostname="my kitchen"), "`my kitchen` is not a host name. Use letters",
         "„my kitchen“ ist kein Name für das Gerät. Nimm Buchstaben"),
        (Seed(broker="-"), "`-` is not a broker.", "„-“ ist kein Broker."),
        (Seed(timezone="?"), "`?` is not a time zone.", "„?“ ist keine Zeitzone."),
        (Seed(country="de"), "`de` is not a country.", "„de“ ist kein Land."),
        (Seed(card="!"), "`!` is not a sound card.", "„!“ ist keine Soundkarte."),
        (Seed(language="xx"), "There is no language `xx`.", "Eine Sprache „xx“ gibt es nicht."),
        (Seed(mode="shut"), "There is no mode `shut`. Use one of open",
         "Einen Modus „shut“ gibt es nicht. Es gibt open"),
        (Seed(panel="x"), "There is no panel `x`.", "Einen Anschluss „x“"),
        (Seed(user="u" * 121, broker="b"), "The broker's user is longer than 120 characters",
         "Der Benutzername für den Broker hat mehr als 120 Zeichen"),
        (Seed(password="p"), "There is a user or password for a broker, but no broker.",
         "fehlt der Broker."),
        (Seed(wifi=WifiNetwork(b"home", "short")), "8 to 63 letters, digits and signs, as WPA",
         "muss 8 bis 63 Buchstaben"),
    ],
)  # fmt: skip
def test_an_invalid_value_is_reported_in_the_language_of_the_reader(
    seed: Seed, english: str, german: str
) -> None:
    with pytest.raises(SeedRefused) as refused:
        check(seed)
    assert english in str(refused.value)
    assert german in told(refused.value, GERMAN)


def test_an_error_without_a_translation_is_reported_in_english() -> None:
    error = SeedRefused("There are 30 ssh keys; at most 20 are allowed.")
    assert told(error, GERMAN) == sentence_of(error) == str(error)


def test_the_sentence_of_an_error_can_be_spoken_in_any_language() -> None:
    sentence = BoxSentence.of("setup-page-wrong-nothing")
    assert sentence_of(SayableRefusal(sentence)) is sentence
    assert told(SayableRefusal(sentence), GERMAN) == "Es wurde nichts eingegeben."
