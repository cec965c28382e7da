"""What a recognised word weighs, by its list and by how sure of it the recogniser is."""

from __future__ import annotations

from typing import get_args

import pytest

from appliance.hear.bargein.classifier import NO_EVIDENCE, LogOdds
from appliance.hear.bargein.word_evidence import WEIGHTS, evidence
from appliance.hear.words.phrases import PhraseKind
from appliance.messages.hearing import WordsHeard


def heard(text: str, kind: PhraseKind, sure: float = 1.0) -> LogOdds:
    return evidence(WordsHeard(1, 300, text, kind, sure))


def test_every_list_has_a_weight() -> None:
    assert set(WEIGHTS) == set(get_args(PhraseKind))


@pytest.mark.parametrize("kind", ["stop", "yield"])
def test_a_word_that_interrupts_speaks_for_an_interruption_and_against_all_else(
    kind: PhraseKind,
) -> None:
    odds = heard("wait", kind)
    assert odds.interruption > 0 > odds.noise > odds.backchannel


def test_a_word_that_lets_it_go_on_speaks_for_a_backchannel() -> None:
    odds = heard("right", "carry_on")
    assert odds.backchannel > 0 > odds.noise > odds.interruption


@pytest.mark.parametrize(("text", "kind"), [("", "stop"), ("coffee", "other")])
def test_nothing_and_what_is_on_no_list_weigh_nothing(text: str, kind: PhraseKind) -> None:
    assert heard(text, kind) == NO_EVIDENCE


def test_half_as_sure_weighs_a_quarter() -> None:
    assert heard("wait", "yield", 0.5) == LogOdds(
        *(weight / 4 for weight in heard("wait", "yield"))
    )
    assert heard("wait", "yield", 0.0) == NO_EVIDENCE
