"""The language of a typed question is detected by its common words."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.language.catalogue import catalogue
from appliance.language.common_words import KEY, language_by_words

SENTENCES = [
    tuple(line.split("\t"))
    for line in (Path(__file__).with_name("short_sentences.txt")).read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize("language", ["en", "de"])
def test_short_sentences_are_detected_and_none_is_mistaken_for_the_other(language: str) -> None:
    detected = [language_by_words(text) for code, text in SENTENCES if code == language]
    assert len(detected) == 24
    assert set(detected) <= {language, ""}
    assert detected.count(language) >= 22


@pytest.mark.parametrize("text", ["", "?!", "12 34", "Xylophon", "in an", "Timer", "日本語"])
def test_an_ambiguous_text_has_no_language(text: str) -> None:
    assert language_by_words(text) == ""


def test_each_language_has_its_own_lower_case_words() -> None:
    lists = [set(catalogue(code).list(KEY)) for code in ("en", "de")]
    assert all(len(words) > 40 and all(word.islower() for word in words) for words in lists)
    assert len(lists[0] & lists[1]) < 5
