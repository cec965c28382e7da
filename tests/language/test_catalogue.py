"""Catalogue: a key and values give a sentence; English stands in for missing keys."""

from __future__ import annotations

import pytest

from appliance.errors import CatalogueError
from appliance.language import fluent_file
from appliance.language.catalogue import (
    FOLDER,
    BoxSentence,
    Catalogue,
    MessagesOfText,
    catalogue,
    english,
    languages,
)


def catalogue_of(language: str, text: str, spare: Catalogue | None = None) -> Catalogue:
    return Catalogue(language, fluent_file.parse(text, f"{language}.ftl"), spare)


COUNTED = (
    "left = { $n ->\n [0] none\n [one] { $n } egg\n [few] { $n } few\n *[other] { $n } eggs\n }"
)


@pytest.mark.parametrize(
    ("language", "count", "said"),
    [
        ("en", 0, "none"),
        ("en", 1, "1 egg"),
        ("en", 2, "2 eggs"),
        ("en", 1.5, "1.5 eggs"),
        ("en", 1000000, "1000000 eggs"),
        ("ru", 21, "21 egg"),
        ("ru", 22, "22 few"),
        ("ja", 1, "1 eggs"),
    ],
)
def test_a_number_chooses_itself_or_its_plural(language: str, count: float, said: str) -> None:
    assert catalogue_of(language, COUNTED).say("left", n=count) == said


def test_a_word_chooses_its_variant_or_the_default() -> None:
    words = catalogue_of("en", "off = { $kind ->\n [alarm] alarm\n *[timer] timer\n }")
    assert [words.say("off", kind=kind) for kind in ("alarm", "timer", "egg")] == [
        "alarm",
        "timer",
        "timer",
    ]


def test_a_value_is_never_parsed_as_syntax() -> None:
    assert (
        catalogue_of("en", "called = It is { $name }.").say("called", name="{ $x }")
        == "It is { $x }."
    )


def test_a_key_missing_in_a_language_is_taken_from_english() -> None:
    spare = catalogue_of("en", "one = One\ntwo = Two { $x }")
    german = catalogue_of("de", "one = Eins", spare)
    assert (german.say("one"), german.say("two", x="!")) == ("Eins", "Two !")


def test_a_missing_key_or_value_is_an_error() -> None:
    words = catalogue_of("en", "called = It is { $name }.")
    with pytest.raises(KeyError, match="calls"):
        words.say("calls")
    with pytest.raises(KeyError, match="name"):
        words.say("called")


def test_a_list_has_its_phrases_and_an_empty_one_has_none() -> None:
    words = catalogue_of("en", 'stop = stop, be quiet,\n    never mind\nnone = { "" }')
    assert words.list("stop") == ("stop", "be quiet", "never mind")
    assert words.list("none") == ()


def test_templates_name_their_variables_and_fall_back_to_english() -> None:
    spare = catalogue_of("en", "page-a = Hello { $who }\npage-b = Bye\nother = x")
    german = catalogue_of("de", "page-a = Hallo { $who }", spare)
    assert german.templates("page-") == {"page-a": "Hallo {who}", "page-b": "Bye"}


def test_a_damaged_message_raises_with_its_line_only_when_it_is_used() -> None:
    text = "page-a = Hello\n\n# told\nspoken = { $who\n"
    damaged = Catalogue("en", MessagesOfText(text, "en.ftl"))
    assert damaged.templates("page-") == {"page-a": "Hello"}
    with pytest.raises(CatalogueError, match="line 4"):
        damaged.say("spoken", who="x")


def test_a_template_with_a_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="left"):
        catalogue_of("en", COUNTED).templates("le")


def test_a_box_sentence_is_rendered_in_the_language_of_the_catalogue() -> None:
    sentence = BoxSentence.of("called", name="Anna")
    assert sentence.text(catalogue_of("de", "called = Sie heißt { $name }.")) == "Sie heißt Anna."
    assert (
        sentence.text(catalogue_of("en", "called = Her name is { $name }.")) == "Her name is Anna."
    )


def test_english_is_listed_first_and_replaces_an_unknown_language() -> None:
    assert languages()[0] == "en"
    assert catalogue("en-GB").language == "en"
    assert catalogue("xx").say("lost-thread") == english().say("lost-thread")


@pytest.mark.parametrize("language", languages())
def test_parsing_message_by_message_equals_parsing_the_whole_file(language: str) -> None:
    text = (FOLDER / f"{language}.ftl").read_text(encoding="utf-8")
    whole = fluent_file.parse(text, f"{language}.ftl")
    assert list(MessagesOfText(text, f"{language}.ftl").items()) == list(whole.items())


def test_a_message_ends_at_the_next_message_or_comment_and_a_damaged_one_raises() -> None:
    text = "one = One,\n    and more\n# two = Not\n\nthree =\n    Three\n\n"
    text += "four = { $x ->\n   *[a] A\n}\n"
    found = MessagesOfText(f"{text}five = {{ $open\nsix = {{ FUNCTION($x) }}\n", "x.ftl")
    assert list(found) == ["one", "three", "four", "five", "six"]
    assert {key: found[key] for key in ("one", "three", "four")} == fluent_file.parse(text, "x.ftl")
    for key in ("five", "six"):
        with pytest.raises(CatalogueError, match=r"x\.ftl"):
            found[key]
