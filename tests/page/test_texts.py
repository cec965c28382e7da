"""The sentences of the page, in English and German."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.page.texts import LANGUAGES, Texts, sentences

PACKAGE = Path(__file__).parents[2] / "appliance/page"


def test_each_language_has_every_sentence_with_the_same_blanks() -> None:
    blanks = [
        {key: sorted(re.findall(r"{\w+}", said)) for key, said in sentences(language).items()}
        for language in LANGUAGES
    ]
    assert all(one == blanks[0] for one in blanks)
    assert all(said.strip() == said != "" for one in LANGUAGES for said in sentences(one).values())


def test_every_sentence_that_is_named_is_there() -> None:
    found = set()
    for path in PACKAGE.rglob("*"):
        if path.suffix in (".html", ".py"):
            text = path.read_text(encoding="utf-8")
            found |= set(re.findall(r"""\b(?:t|texts|says)\(\s*["']([a-z_.]+)["'][,)]""", text))
    assert len(found) > 40
    assert found <= sentences("en").keys()


@pytest.mark.parametrize(
    ("accepted", "language"),
    [("de", "de"), ("de-AT,en", "de"), ("fr-FR,de;q=0.8,en;q=0.5", "de"), ("en-US,de", "en"),
     ("", "en"), ("xx", "en"), (",;,=" * 500, "en"), ("DE", "de")],
)  # fmt: skip
def test_the_first_language_that_there_is_counts(accepted: str, language: str) -> None:
    assert Texts.wanted(accepted).language == language


def test_an_unknown_sentence_is_a_mistake_and_a_strangers_is_nothing() -> None:
    assert Texts("en").known("nonsense.<script>") == ""
    assert Texts("en").known("pair.say_code") == "", "only what a page may be asked to show"
    assert Texts("en").known("settings.saved") == "Saved."
    with pytest.raises(KeyError):
        Texts("en")("no.such")
