"""The form of the tables of words."""

from __future__ import annotations

import pytest

from appliance.tools.guard.lexicon import Language, Lexicon, Tag, joins, lines

TABLE = Lexicon(
    (
        Language(
            rows=((Tag.DOOR, "*tuer gate"), (Tag.DEVICE, "*licht"), (Tag.UNLOCK, "unlock*"),
                  (Tag.LOCK, "unlocker"), (Tag.WINDOW, "*dachtuer")),
            joins=joins("pool cover -> hatch"),
            asks=lines("""
                is|are
                what (?:is|
                    was)
                """),
            idioms=lines("let <who> in", who="(?:him|her)"),
        ),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("word", "tags"),
    [
        ("gate", {Tag.DOOR}),
        ("gates", set()),
        ("navigate", set()),
        ("tuer", {Tag.DOOR}),
        ("kellertuer", {Tag.DOOR}),
        ("tuerlicht", {Tag.DEVICE}),
        ("atuer", set()),
        ("unlocking", {Tag.UNLOCK}),
        ("unlocker", {Tag.LOCK}),
        ("altdachtuer", {Tag.WINDOW}),
    ],
)
def test_a_word_matches_as_a_whole_or_as_its_row_says(word: str, tags: set[Tag]) -> None:
    assert TABLE.tags(word) == tags


def test_patterns_match_whole_words_at_their_place() -> None:
    assert TABLE.find("asks", "what was it") is not None
    assert TABLE.find("asks", "tell me what is it") is None
    assert TABLE.find("asks", "island") is None
    assert TABLE.find("idioms", "please let her in") is not None
    assert TABLE.find("topics", "anything") is None
    assert TABLE.strike("idioms", "so let him in now").split() == ["so", "now"]


def test_joined_words_are_replaced() -> None:
    assert TABLE.join("open the pool cover") == "open the hatch"
    assert TABLE.join("open the whirlpool cover") == "open the whirlpool cover"
