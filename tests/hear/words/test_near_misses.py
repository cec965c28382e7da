"""Near misses of the wake word are reported once, with the peak score and the shortfall."""

from __future__ import annotations

import pytest

from appliance.hear.words.near_misses import NEAR_LOG_ODDS, NearMisses, log_odds
from appliance.messages.hearing import WakeNearMiss, WakeScore
from appliance.pcm import RATE_HZ

FRAMES = RATE_HZ // 50  # 20 ms
THRESHOLD = 0.9


class ScoreFeed:
    def __init__(self, *, watched: bool = False) -> None:
        self.near = NearMisses()
        self.near.watched = watched
        self.index = 0

    def __call__(
        self, score: float, seconds: float = 0.1, *, heard: bool = False
    ) -> list[WakeNearMiss | WakeScore]:
        out: list[WakeNearMiss | WakeScore] = []
        for n in range(round(seconds * RATE_HZ / FRAMES)):
            self.index += FRAMES
            out += self.near.process(score, THRESHOLD, FRAMES, self.index, heard=heard and n == 0)
        return out


def test_a_near_miss_is_reported_after_its_end_with_its_peak_score_and_index() -> None:
    feed = ScoreFeed()
    feed(0.0, 1.0)
    assert feed(0.6) == []
    assert feed(0.8) == []
    at = feed.index - 4 * FRAMES
    assert feed(0.7) == []
    (miss,) = feed(0.0, 1.0)
    assert isinstance(miss, WakeNearMiss)
    assert (miss.score, miss.threshold, miss.index) == (0.8, 0.9, at)
    assert miss.short == pytest.approx(log_odds(0.9) - log_odds(0.8), abs=0.01)


def test_two_peaks_of_one_word_are_one_near_miss() -> None:
    feed = ScoreFeed()
    reports = [*feed(0.7), *feed(0.0, 0.2), *feed(0.6), *feed(0.0, 1.0)]
    assert [miss.score for miss in reports] == [0.7]
    reports = [*feed(0.7), *feed(0.0, 1.0), *feed(0.6), *feed(0.0, 1.0)]
    assert [miss.score for miss in reports] == [0.7, 0.6]


@pytest.mark.parametrize(("score", "reports"), [(0.13, 0), (0.15, 1)])
def test_a_score_too_low_is_not_a_near_miss(score: float, reports: int) -> None:
    assert log_odds(0.14) == pytest.approx(log_odds(THRESHOLD) - NEAR_LOG_ODDS, abs=0.05)
    feed = ScoreFeed()
    feed(score)
    assert len(feed(0.0, 1.0)) == reports


def test_the_wake_word_and_its_tail_are_not_near_misses() -> None:
    feed = ScoreFeed()
    feed(0.8)
    assert feed(0.95, heard=True) == []
    assert [*feed(0.7, 0.3), *feed(0.0, 2.0)] == []
    feed(0.8)
    assert len(feed(0.0, 1.0)) == 1, "a later one is a near miss"


def test_the_peak_score_of_each_interval_is_reported_while_watched() -> None:
    feed = ScoreFeed(watched=True)
    reports = [*feed(0.02, 0.1), *feed(0.05, 0.02), *feed(0.01, 0.3)]
    assert reports == [WakeScore(0.05, 0.9), WakeScore(0.01, 0.9)]
    feed.near.watched = False
    assert feed(0.02, 1.0) == []


def test_scores_of_one_and_zero_have_finite_log_odds() -> None:
    assert log_odds(1.0) == pytest.approx(-log_odds(0.0))
    assert log_odds(1.0) < 20
