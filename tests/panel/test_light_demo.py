"""The light on request: for some seconds, not too often, and never in place of what matters now."""

from __future__ import annotations

import math

import pytest

from appliance.panel.light import PATTERNS
from appliance.panel.light_demo import PROTECTED, SHOW_S, LightDemo


def test_a_row_is_shown_for_its_seconds_and_then_what_is_so() -> None:
    demo = LightDemo()
    assert demo.request("no_card", "idle", 10.0)
    assert demo.shown("idle", 10.0) == demo.shown("idle", 9.9 + SHOW_S) == "no_card"
    assert demo.left_s(11.0) == SHOW_S - 1
    assert demo.shown("idle", 10.0 + SHOW_S) == "idle"
    assert demo.left_s(11.0 + SHOW_S) == math.inf


def test_what_is_so_is_shown_as_long_as_the_demonstration_was() -> None:
    demo = LightDemo()
    assert demo.request("muted", "idle", 0.0)
    assert not demo.request("muted", "idle", 1.0), "one goes on"
    assert not demo.request("muted", "idle", 2 * SHOW_S - 0.1)
    assert demo.request("muted", "idle", 2 * SHOW_S)


@pytest.mark.parametrize("news", ["listening", "muted", "failed"])
def test_a_change_of_what_is_so_ends_it_at_once_and_for_good(news: str) -> None:
    demo = LightDemo()
    demo.request("speaking", "idle", 0.0)
    assert demo.shown(news, 0.1) == news
    assert demo.shown("idle", 0.2) == "idle"


@pytest.mark.parametrize("truth", sorted(PATTERNS))
def test_nothing_is_shown_while_somebody_talks_or_holds_the_button(truth: str) -> None:
    demo = LightDemo()
    assert demo.request("idle", truth, 0.0) == (truth not in PROTECTED)
    assert demo.shown(truth, 0.0) == (truth if truth in PROTECTED else "idle")


def test_what_must_not_be_replaced_is_in_the_table() -> None:
    assert PATTERNS.keys() > PROTECTED


def test_a_row_that_there_is_not_is_not_shown() -> None:
    demo = LightDemo()
    assert not demo.request("dancing", "idle", 0.0)
    assert demo.shown("idle", 0.0) == "idle"
