"""Fluent's syntax as far as sentences need it."""

from __future__ import annotations

import pytest

from appliance.errors import CatalogueError
from appliance.language.fluent_file import parse
from appliance.language.patterns import Choice, Reference, Variable, variables


def test_text_variables_and_references_come_in_their_order() -> None:
    found = parse("who = { $name }\nhello = Good { $time }, { who }!", "x.ftl")
    assert found["who"] == (Variable("name"),)
    assert found["hello"] == ("Good ", Variable("time"), ", ", Reference("who"), "!")


def test_a_choice_has_its_variants_and_its_default() -> None:
    text = "left = { $count ->\n    [0] none\n    [one] one\n   *[other] { $count }\n }"
    (choice,) = parse(text, "x.ftl")["left"]
    assert isinstance(choice, Choice)
    assert choice.name == "count"
    assert choice.variants == {0.0: ("none",), "one": ("one",), "other": (Variable("count"),)}
    assert choice.default == (Variable("count"),)


def test_a_line_that_goes_on_is_one_line() -> None:
    assert "".join(map(str, parse("long = one\n    two", "x.ftl")["long"])) == "one two"


def test_comments_say_nothing() -> None:
    assert list(parse("# One\n## Two\n### Three\n\nkey = Text", "x.ftl")) == ["key"]


def test_the_variables_of_every_variant_count() -> None:
    text = "left = { $side ->\n    [to] { $to } to { $next }\n   *[past] { $past }\n }"
    assert variables(parse(text, "x.ftl")["left"]) == {"side", "to", "next", "past"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("key = { FUNCTION($x) }", 1),
        ("key = { -term }", 1),
        ("key = Text\n    .attribute = More", 1),
        ("-term = Text", 1),
        ("key = Text\nkey = Again", 2),
        ("key = Text\n\nnonsense", 3),
        ("key = { $open", 1),
    ],
)
def test_what_is_not_known_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(CatalogueError, match=rf"x\.ftl, line {line}\b"):
        parse(text, "x.ftl")
