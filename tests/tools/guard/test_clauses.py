"""Spelling and division of a request."""

from __future__ import annotations

import pytest

from appliance.tools.guard.clauses import Clause, divide, spell, without_accents


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("Öffne die Haustür!", "oeffne die haustuer |"),
        ("O\u0308ffne", "oeffne"),
        ("ｏｐｅｎ the\u00addoor", "open thedoor"),
        ("déverrouille", "deverrouille"),
        ("Schließ's", "schliess s"),
        ("Rolllladen", "rolladen"),
        ("50%", "50 percent"),
        ("at 7:30", "at 730"),
        ("Garagen-Tor", "garagen tor"),
        ("", ""),
    ],
)
def test_a_text_is_spelt_in_one_way(text: str, spelt: str) -> None:
    assert spell(text) == spelt


def test_without_accents_an_umlaut_is_its_vowel() -> None:
    assert without_accents("Öffne, bitte: Tür") == "offne bitte tur"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("close the door", [("close the door", "")]),
        ("lights off and open up", [("lights off", ""), ("open up", "and")]),
        ("Licht aus, Tür auf", [("licht aus", ""), ("tuer auf", "|")]),
        ("open it when I come", [("open it", ""), ("when i come", "when")]),
        ("sei so lieb", [("sei so lieb", "")]),
        ("shut it so the cat stays", [("shut it", ""), ("so the cat stays", "so")]),
        (", and , open", [("open", "and")]),
    ],
)
def test_a_request_is_divided_into_clauses(text: str, parts: list[tuple[str, str]]) -> None:
    assert [(clause.text, clause.joint) for clause in divide(spell(text).split())] == parts


def test_the_text_of_a_clause_is_its_words() -> None:
    assert Clause(("a", "b")).text == "a b"
