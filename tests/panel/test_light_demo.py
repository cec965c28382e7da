"""A pattern shown on request: limited in time and rate, and never instead of a protected one."""

from __future__ import annotations

import math

import pytest

from appliance.panel.light import PATTERNS
from appliance.panel.light_demo import PROTECTED, SHOW_S, LightDemo


def test_a_requested_pattern_is_shown_for_a_limited_time() -> None:
    demo = LightDemo()
    assert demo.request("no_card", "idle", 10.0)
    assert demo.shown("idle", 10.0) == demo.shown("idle", 9.9 + SHOW_S) == "no_card"
    assert demo.left_s(11.0) == SHOW_S - 1
    assert demo.shown("idle", 10.0 + SHOW_S) == "idle"
    assert demo.left_s(11.0 + SHOW_S) == math.inf


def test_between_two_demonstrations_the_actual_state_is_shown_as_long() -> None:
    demo = LightDemo()
    assert demo.request("muted", "idle", 0.0)
    assert not demo.request("muted", "idle", 1.0), "a demonstration is running"
    assert not demo.request("muted", "idle", 2 * SHOW_S - 0.1)
    assert demo.request("muted", "idle", 2 * SHOW_S)


@pytest.mark.parametrize("news", ["listening", "muted", "failed"])
def test_a_change_of_the_actual_state_ends_the_demonstration(news: str) -> None:
    demo = LightDemo()
    demo.request("speaking", "idle", 0.0)
    assert demo.shown(news, 0.1) == news
    assert demo.shown("idle", 0.2) == "idle"


@pytest.mark.parametrize("truth", sorted(PATTERNS))
def test_a_protected_pattern_is_never_replaced(truth: str) -> None:
    demo = LightDemo()
    assert demo.request("idle", truth, 0.0) == (truth not in PROTECTED)
    assert demo.shown(truth, 0.0) == (truth if truth in PROTECTED else "idle")


def test_every_protected_pattern_is_in_the_table() -> None:
    assert PATTERNS.keys() > PROTECTED


def test_an_unknown_pattern_is_refused() -> None:
    demo = LightDemo()
    assert not demo.request("dancing", "idle", 0.0)
    assert demo.shown("idle", 0.0) == "idle"
