"""The sentences of the page: their language, and which ones a URL can request."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from appliance.language.catalogue import english
from appliance.page.texts import Texts

PACKAGE = Path(__file__).parents[2] / "appliance/page"


def test_every_sentence_named_by_a_template_exists() -> None:
    found = set()
    for path in (PACKAGE / "templates").glob("*.html"):
        found |= set(re.findall(r"""["'](page-[a-z-]+[a-z])["']""", path.read_text()))
    assert len(found) > 30
    assert {key for key in found if key not in english()} == set()


@pytest.mark.parametrize(
    ("accepted", "language"),
    [("de", "de"), ("de-AT,en", "de"), ("fr-FR,de;q=0.8,en;q=0.5", "de"), ("en-US,de", "en"),
     ("", "de"), ("xx", "de"), (",;,=" * 500, "de"), ("DE", "de")],
)  # fmt: skip
def test_the_first_supported_language_is_used_or_else_that_of_the_box(
    accepted: str, language: str
) -> None:
    assert Texts.wanted(accepted, "de").language == language


def test_an_unsupported_language_falls_back_to_english() -> None:
    assert Texts("auto").language == "en"


def test_an_unknown_sentence_is_an_error_and_an_unknown_notice_is_empty() -> None:
    texts = Texts("en")
    assert texts.notice("nonsense.<script>") == ""
    assert texts.notice("pairing-digits") == "", "only sentences meant as notices"
    assert texts.notice("page-notice-saved") == "Saved."
    with pytest.raises(KeyError):
        texts("no-such")


def test_a_notice_contains_its_value_and_is_empty_without_it() -> None:
    texts = Texts("en")
    assert texts.notice("page-notice-set-volume", percent=60, voice="amy") == "Volume set to 60 %."
    assert texts.notice("page-notice-set-volume", voice="amy") == ""


def test_the_script_gets_sentences_with_their_placeholders() -> None:
    assert Texts("en").templates("page-ev-")["pause"] == "silent after {ms} ms"
