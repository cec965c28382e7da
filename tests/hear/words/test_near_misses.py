"""Near misses of the wake word: told once, with their highest score and how far they fell short."""

from __future__ import annotations

import pytest

from appliance.hear.words.near_misses import NEAR_LOG_ODDS, NearMisses, log_odds
from appliance.messages.hearing import WakeNearMiss, WakeScore
from appliance.pcm import RATE_HZ

FRAMES = RATE_HZ // 50  # 20 ms
THRESHOLD = 0.9


class Ear:
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


def test_a_miss_is_told_once_it_is_over_with_its_highest_score_and_when() -> None:
    ear = Ear()
    ear(0.0, 1.0)
    assert ear(0.6) == []
    assert ear(0.8) == []
    at = ear.index - 4 * FRAMES
    assert ear(0.7) == []
    (miss,) = ear(0.0, 1.0)
    assert isinstance(miss, WakeNearMiss)
    assert (miss.score, miss.threshold, miss.index) == (0.8, 0.9, at)
    assert miss.short == pytest.approx(log_odds(0.9) - log_odds(0.8), abs=0.01)


def test_two_peaks_of_one_word_are_one_miss_and_two_words_are_two() -> None:
    ear = Ear()
    told = [*ear(0.7), *ear(0.0, 0.2), *ear(0.6), *ear(0.0, 1.0)]
    assert [one.score for one in told] == [0.7]
    told = [*ear(0.7), *ear(0.0, 1.0), *ear(0.6), *ear(0.0, 1.0)]
    assert [one.score for one in told] == [0.7, 0.6]


@pytest.mark.parametrize(("score", "told"), [(0.13, 0), (0.15, 1)])
def test_what_was_never_near_is_none(score: float, told: int) -> None:
    assert log_odds(0.14) == pytest.approx(log_odds(THRESHOLD) - NEAR_LOG_ODDS, abs=0.05)
    ear = Ear()
    ear(score)
    assert len(ear(0.0, 1.0)) == told


def test_the_wake_word_itself_and_its_own_tail_are_no_misses() -> None:
    ear = Ear()
    ear(0.8)
    assert ear(0.95, heard=True) == []
    assert [*ear(0.7, 0.3), *ear(0.0, 2.0)] == []
    ear(0.8)
    assert len(ear(0.0, 1.0)) == 1, "the next one is"


def test_scores_are_told_while_somebody_watches_the_highest_of_each_moment() -> None:
    ear = Ear(watched=True)
    told = [*ear(0.02, 0.1), *ear(0.05, 0.02), *ear(0.01, 0.3)]
    assert told == [WakeScore(0.05, 0.9), WakeScore(0.01, 0.9)]
    ear.near.watched = False
    assert ear(0.02, 1.0) == []


def test_a_score_of_one_or_none_has_finite_log_odds() -> None:
    assert log_odds(1.0) == pytest.approx(-log_odds(0.0))
    assert log_odds(1.0) < 20
