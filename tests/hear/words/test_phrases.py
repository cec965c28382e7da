"""The owner's lists classify a text and set its weight."""

from __future__ import annotations

import msgspec
import pytest

from appliance.hear.bargein.word_evidence import evidence
from appliance.hear.words.phrases import kind_of, plain
from appliance.messages.hearing import WordsHeard
from appliance.settings import load_defaults

LISTS = load_defaults().hearing.words


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("stop", "stop"),
        ("Stop!", "stop"),
        ("stop stop be quiet", "stop"),
        ("never mind", "stop"),
        ("stop the music", "yield"),
        ("pardon", "repeat"),
        ("Sorry, what did you say?", "repeat"),
        ("sorry that is wrong", "yield"),
        ("okay but wait", "yield"),
        ("hold on", "yield"),
        ("hold", "other"),
        ("mm-hm", "carry_on"),
        ("yeah right", "carry_on"),
        ("I see", "carry_on"),
        ("right what about me", "other"),
        ("what about the sea", "other"),
        ("unstoppable", "other"),
        ("", "other"),
    ],
)
def test_a_text_is_classified_by_the_lists(text: str, kind: str) -> None:
    assert kind_of(text, LISTS) == kind


def test_text_is_normalised() -> None:
    assert plain("  Don’t — STOP, mm-hm 42! ") == "don't stop mm-hm"


def test_the_settings_can_move_a_word_to_another_list() -> None:
    lists = msgspec.structs.replace(LISTS, yields=("okay",), carry_on=("mm-hm",))
    assert kind_of("okay", lists) == "yield"


# ── weight ───────────────────────────────────────────────────────────────────────────────────
def heard(text: str, sure: float = 1.0) -> WordsHeard:
    return WordsHeard(1, 300, text, kind_of(text, LISTS), sure)


def test_interrupting_words_favour_an_interruption_and_murmurs_a_backchannel() -> None:
    assert evidence(heard("wait")).interruption > evidence(heard("wait")).backchannel
    assert evidence(heard("mm-hm")).backchannel > evidence(heard("mm-hm")).interruption


def test_higher_confidence_gives_a_word_more_weight() -> None:
    assert evidence(heard("wait", 0.3)).interruption < evidence(heard("wait", 0.9)).interruption


def test_an_empty_text_has_no_weight() -> None:
    assert set(evidence(heard(""))) == {0.0}


def test_words_on_no_list_have_no_weight() -> None:
    assert set(evidence(heard("coffee"))) == {0.0}
