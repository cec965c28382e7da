"""Every refusal of typed values is shown in the page's language."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from appliance.errors import InterludeError, SettingsError, ShownAs, StorageError
from appliance.language.catalogue import BoxSentence, catalogue
from appliance.page.refusals import LABELS, outcome_refusal, refusal
from appliance.page.texts import Texts
from appliance.provision.refusal import SayableRefusal
from appliance.runtime.handed_request import RequestOutcome
from appliance.settings.loading import load_text
from appliance.settings.settings_change import CHANGEABLE, MODEL

GERMAN, ENGLISH = Texts("de"), Texts("en")


def refused(text: str) -> InterludeError:
    with pytest.raises(SettingsError) as caught:
        load_text(text, "mine.yaml")
    return caught.value


def test_a_refused_value_is_reported_with_the_label_of_its_field() -> None:
    error = refused("link: {port: 70000}")
    assert refusal(error, GERMAN) == "Port: Das Größte ist 65535."
    assert refusal(error, ENGLISH) == "Port: the maximum is 65535."


def test_a_share_is_reported_in_percent_as_in_its_field() -> None:
    error = refused("hearing: {wake: {sensitivity: 1.5}}")
    assert refusal(error, GERMAN) == "Empfindlichkeit: Das Größte ist 100 %."


def test_every_field_of_the_forms_has_a_label() -> None:
    assert LABELS.keys() == CHANGEABLE - set(MODEL)


def test_an_error_without_its_own_sentence_gets_that_of_its_class() -> None:
    error = StorageError("The moon is down.", "Wait.")
    assert refusal(error, ENGLISH) == "The moon is down. Wait."
    assert refusal(error, GERMAN) == GERMAN("page-wrong-general-storage")


def kinds(refused: type[InterludeError] = InterludeError) -> Iterator[type[InterludeError]]:
    yield refused
    for kind in refused.__subclasses__():
        yield from kinds(kind)


def test_every_error_class_has_a_sentence_in_both_languages() -> None:
    for kind in kinds():
        for language in ("en", "de"):
            assert kind.general in catalogue(language).messages, (kind, language)


def test_an_unknown_or_incomplete_key_falls_back_to_english() -> None:
    error = InterludeError("New.", shown=ShownAs.of("page-wrong-in-the-future"))
    assert refusal(error, ENGLISH) == "New."
    lacks = InterludeError("New.", shown=ShownAs.of("page-wrong-most", setting="x"))
    assert refusal(lacks, ENGLISH) == "New."


def test_the_refusal_of_a_privileged_unit_is_shown_in_both_languages() -> None:
    error = SayableRefusal(BoxSentence.of("setup-page-wrong-wifi-password"))
    told = msgspec.json.encode(RequestOutcome.of_error("a" * 16, error))
    outcome = msgspec.json.decode(told, type=RequestOutcome)
    assert outcome_refusal(outcome, GERMAN) == catalogue("de").say("setup-page-wrong-wifi-password")
    assert outcome_refusal(outcome, ENGLISH) == str(error)


def test_without_an_outcome_there_is_no_refusal() -> None:
    assert outcome_refusal(None, GERMAN) == ""
    assert outcome_refusal(RequestOutcome("a" * 16), GERMAN) == ""


def test_every_refusal_sentence_exists_in_both_languages() -> None:
    english, german = catalogue("en").messages, catalogue("de").messages
    keys = {key for key in english if key.startswith("page-wrong-")}
    assert len(keys) > 25
    assert keys - german.keys() == set()
    assert {key for key in german if key.startswith("page-wrong-")} == keys
