"""The light: the table of patterns, which can be distinguished without colour."""

from __future__ import annotations

from datetime import time
from itertools import combinations
from typing import get_args

import pytest

from appliance.messages.commands import StateName
from appliance.panel.light import PATTERNS, choose, is_night, level, shown, until_change_s


@pytest.mark.parametrize("state", get_args(StateName))
def test_every_state_of_the_conversation_has_a_pattern(state: str) -> None:
    assert state in PATTERNS


@pytest.mark.parametrize(("one", "other"), list(combinations(PATTERNS, 2)))
def test_any_two_rhythms_differ_without_colour(one: str, other: str) -> None:
    a, b = PATTERNS[one], PATTERNS[other]
    if (a.shape, a.flashes) == (b.shape, b.flashes):
        slower, faster = max(a.period_s, b.period_s), min(a.period_s, b.period_s)
        assert slower / faster >= 1.4 or abs(a.lit - b.lit) >= 0.4


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_starts_lit_so_that_a_change_is_visible_at_once(name: str) -> None:
    assert level(PATTERNS[name], 0.0) == 1.0


@pytest.mark.parametrize("name", PATTERNS)
def test_a_blink_pattern_has_the_number_of_flashes_in_its_row(name: str) -> None:
    pattern = PATTERNS[name]
    if pattern.shape != "blink":
        return
    lit = [level(pattern, pattern.period_s * i / 1000) > 0 for i in range(1000)]
    rises = sum(1 for i in range(1000) if lit[i] and not lit[i - 1])
    assert rises == pattern.flashes


def test_the_most_urgent_pattern_is_shown() -> None:
    assert choose({"speaking", "muted", "no_broker"}) == "muted"
    assert choose({"idle", "too_hot"}) == "too_hot"
    assert choose({"speaking", "too_hot"}) == "speaking"
    assert choose({"listening", "starting"}) == "listening"
    assert choose({"idle", "starting", "no_broker"}) == "starting"
    assert choose(set()) == "idle"


def test_an_unknown_pattern_raises_an_error_with_its_name() -> None:
    with pytest.raises(KeyError, match="dancing"):
        choose({"dancing"})


@pytest.mark.parametrize(("asked", "got"), [(0.5, 0.5), (-1.0, 0.0), (7.0, 1.0)])
def test_brightness_is_scaled_and_clamped(asked: float, got: float) -> None:
    assert shown("muted", 0.0, asked) == (got, 0.0, 0.0)


def test_a_night_may_span_midnight_or_be_empty() -> None:
    begins, ends = time(22), time(7)
    assert is_night(time(23, 30), begins, ends)
    assert is_night(time(3), begins, ends)
    assert not is_night(time(7), begins, ends)
    assert not is_night(time(12), time(8), time(8))


@pytest.mark.parametrize("name", PATTERNS)
def test_until_change_s_is_the_exact_time_to_the_next_change(name: str) -> None:
    pattern = PATTERNS[name]
    if pattern.shape != "blink":
        return
    age_s = 0.0
    for _ in range(12):
        before, wait_s = level(pattern, age_s + 1e-6), until_change_s(pattern, age_s + 1e-6)
        assert level(pattern, age_s + wait_s - 1e-6) == before
        age_s += wait_s + 1e-6
        assert level(pattern, age_s + 1e-6) != before
