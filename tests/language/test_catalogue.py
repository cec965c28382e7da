"""A key and values in, words out; what a language lacks is said in English."""

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


def made(language: str, text: str, spare: Catalogue | None = None) -> Catalogue:
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
    assert made(language, COUNTED).say("left", n=count) == said


def test_a_word_chooses_its_variant_or_the_default() -> None:
    words = made("en", "off = { $kind ->\n [alarm] alarm\n *[timer] timer\n }")
    assert [words.say("off", kind=kind) for kind in ("alarm", "timer", "egg")] == [
        "alarm",
        "timer",
        "timer",
    ]


def test_what_a_value_says_is_never_read_as_syntax() -> None:
    assert made("en", "called = It is { $name }.").say("called", name="{ $x }") == "It is { $x }."


def test_what_a_language_lacks_is_said_in_english() -> None:
    spare = made("en", "one = One\ntwo = Two { $x }")
    german = made("de", "one = Eins", spare)
    assert (german.say("one"), german.say("two", x="!")) == ("Eins", "Two !")


def test_a_missing_key_or_value_is_an_error() -> None:
    words = made("en", "called = It is { $name }.")
    with pytest.raises(KeyError, match="calls"):
        words.say("calls")
    with pytest.raises(KeyError, match="name"):
        words.say("called")


def test_a_list_has_its_phrases_and_an_empty_one_has_none() -> None:
    words = made("en", 'stop = stop, be quiet,\n    never mind\nnone = { "" }')
    assert words.list("stop") == ("stop", "be quiet", "never mind")
    assert words.list("none") == ()


def test_templates_name_their_variables_and_take_english_where_a_language_lacks_one() -> None:
    spare = made("en", "page-a = Hello { $who }\npage-b = Bye\nother = x")
    german = made("de", "page-a = Hallo { $who }", spare)
    assert german.templates("page-") == {"page-a": "Hallo {who}", "page-b": "Bye"}


def test_an_error_names_the_line_and_what_is_not_asked_for_is_none() -> None:
    text = "page-a = Hello\n\n# told\nspoken = { $who\n"
    damaged = Catalogue("en", MessagesOfText(text, "en.ftl"))
    assert damaged.templates("page-") == {"page-a": "Hello"}
    with pytest.raises(CatalogueError, match="line 4"):
        damaged.say("spoken", who="x")


def test_a_template_with_a_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="left"):
        made("en", COUNTED).templates("le")


def test_a_box_sentence_is_said_in_the_language_of_who_hears_it() -> None:
    sentence = BoxSentence.of("called", name="Anna")
    assert sentence.text(made("de", "called = Sie heißt { $name }.")) == "Sie heißt Anna."
    assert sentence.text(made("en", "called = Her name is { $name }.")) == "Her name is Anna."


def test_english_comes_first_and_stands_in_for_what_there_is_not() -> None:
    assert languages()[0] == "en"
    assert catalogue("en-GB").language == "en"
    assert catalogue("xx").say("lost-thread") == english().say("lost-thread")


@pytest.mark.parametrize("language", languages())
def test_each_message_of_a_file_is_what_fluents_parser_makes_of_the_whole(language: str) -> None:
    text = (FOLDER / f"{language}.ftl").read_text(encoding="utf-8")
    whole = fluent_file.parse(text, f"{language}.ftl")
    assert list(MessagesOfText(text, f"{language}.ftl").items()) == list(whole.items())


def test_a_message_ends_where_the_next_or_a_comment_begins_and_a_damaged_one_is_an_error() -> None:
    text = "one = One,\n    and more\n# two = Not\n\nthree =\n    Three\n\n"
    text += "four = { $x ->\n   *[a] A\n}\n"
    found = MessagesOfText(f"{text}five = {{ $open\nsix = {{ FUNCTION($x) }}\n", "x.ftl")
    assert list(found) == ["one", "three", "four", "five", "six"]
    assert {key: found[key] for key in ("one", "three", "four")} == fluent_file.parse(text, "x.ftl")
    for key in ("five", "six"):
        with pytest.raises(CatalogueError, match=r"x\.ftl"):
            found[key]
