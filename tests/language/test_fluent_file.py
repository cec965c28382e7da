"""The parser of the subset of Fluent's syntax that the sentences use."""

from __future__ import annotations

import pytest

from appliance.errors import CatalogueError
from appliance.language.fluent_file import parse
from appliance.language.patterns import Choice, Reference, Variable, variables


def test_text_variables_and_references_keep_their_order() -> None:
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


def test_an_indented_line_continues_the_message() -> None:
    assert "".join(map(str, parse("long = one\n    two", "x.ftl")["long"])) == "one two"


def test_comments_are_ignored() -> None:
    assert list(parse("# One\n## Two\n### Three\n\nkey = Text", "x.ftl")) == ["key"]


def test_variables_includes_those_of_every_variant() -> None:
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
def test_unsupported_syntax_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(CatalogueError, match=rf"x\.ftl, line {line}\b"):
        parse(text, "x.ftl")
