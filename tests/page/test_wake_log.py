"""The wake word on the page: the last ten near misses, and the sensitivity each one needed."""

from __future__ import annotations

import pytest

from appliance.hear.words.microwakeword_backend import _SENSITIVE
from appliance.messages.hearing import WakeNearMiss, WakeScore, WakeWordHeard
from appliance.page.wake_log import KEPT, LOG_ODDS_SPAN, WakeLog


def test_the_last_ten_rows_are_kept_newest_first() -> None:
    log = WakeLog(0.5)
    for number in range(KEPT + 3):
        assert log.handle(WakeNearMiss(16_000 * number, 0.5, 0.9, 1.0))
    assert [row.at_s for row in log.rows] == [float(n) for n in range(KEPT + 2, 2, -1)]


@pytest.mark.parametrize(
    ("sensitivity", "short", "needed"),
    [(0.5, 1.2, 0.7), (0.5, 3.0, 1.0), (0.5, 3.1, None), (0.9, 1.2, None)],
)
def test_a_near_miss_has_the_sensitivity_that_would_have_detected_it(
    sensitivity: float, short: float, needed: float | None
) -> None:
    log = WakeLog(sensitivity)
    log.handle(WakeNearMiss(0, 0.5, 0.9, short))
    assert log.rows[0].needed == (None if needed is None else pytest.approx(needed))


def test_the_log_odds_span_is_that_of_the_spotter() -> None:
    assert LOG_ODDS_SPAN == _SENSITIVE


def test_detected_wake_words_are_listed_among_the_misses() -> None:
    log = WakeLog(0.5)
    log.handle(WakeNearMiss(0, 0.5, 0.9, 1.2))
    log.handle(WakeWordHeard(32_000, "okay nabu", 0.97))
    assert [(row.heard, row.score) for row in log.rows] == [(True, 0.97), (False, 0.5)]


def test_scores_are_events_and_not_rows() -> None:
    log = WakeLog(0.5)
    assert not log.tells_scores
    assert log.handle(WakeScore(0.2, 0.9)) == [{"k": "score", "p": 0.2, "over": 0.9}]
    assert (list(log.rows), log.tells_scores) == ([], True)
