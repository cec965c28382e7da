"""The weight of a recognised word, by its list and the recogniser's confidence."""

from __future__ import annotations

from typing import get_args

import pytest

from appliance.hear.bargein.classifier import NO_EVIDENCE, LogOdds
from appliance.hear.bargein.word_evidence import WEIGHTS, evidence
from appliance.messages.hearing import PhraseKind, WordsHeard


def heard(text: str, kind: PhraseKind, sure: float = 1.0) -> LogOdds:
    return evidence(WordsHeard(1, 300, text, kind, sure))


def test_every_list_has_a_weight() -> None:
    assert set(WEIGHTS) == set(get_args(PhraseKind))


@pytest.mark.parametrize("kind", ["stop", "repeat", "yield"])
def test_an_interrupting_word_raises_interruption_over_noise_over_backchannel(
    kind: PhraseKind,
) -> None:
    odds = heard("wait", kind)
    assert odds.interruption > 0 > odds.noise > odds.backchannel


def test_a_carry_on_word_raises_backchannel_over_noise_over_interruption() -> None:
    odds = heard("right", "carry_on")
    assert odds.backchannel > 0 > odds.noise > odds.interruption


@pytest.mark.parametrize(("text", "kind"), [("", "stop"), ("coffee", "other")])
def test_no_text_and_words_on_no_list_have_no_weight(text: str, kind: PhraseKind) -> None:
    assert heard(text, kind) == NO_EVIDENCE


def test_half_the_confidence_gives_a_quarter_of_the_weight() -> None:
    assert heard("wait", "yield", 0.5) == LogOdds(
        *(weight / 4 for weight in heard("wait", "yield"))
    )
    assert heard("wait", "yield", 0.0) == NO_EVIDENCE
