"""Confidence intervals, compared with values from tables."""

from __future__ import annotations

import math

import pytest

from lab.bench import intervals


def test_the_interval_of_a_share_of_zero_is_from_0_to_1() -> None:
    assert intervals.share(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 20, 0.0, 0.161), (10, 20, 0.299, 0.701), (20, 20, 0.839, 1.0), (98, 100, 0.930, 0.994)],
)
def test_a_share_has_wilsons_interval(hits: int, of: int, low: float, high: float) -> None:
    assert intervals.share(hits, of) == pytest.approx((low, high), abs=0.001)


@pytest.mark.parametrize(
    ("seen", "low", "high"), [(0, 0.0, 3.689), (1, 0.0253, 5.572), (10, 4.795, 18.39)]
)
def test_a_count_has_the_exact_interval(seen: int, low: float, high: float) -> None:
    assert intervals.count(seen) == pytest.approx((low, high), abs=0.01)


def test_a_percentiles_interval_contains_it_and_shrinks_with_more_values() -> None:
    few = intervals.percentile([float(n % 20) for n in range(20)], 50)
    many = intervals.percentile([float(n % 20) for n in range(2000)], 50)
    assert few[0] <= 9.5 <= few[1]
    assert many[1] - many[0] < few[1] - few[0]


def test_the_percentile_of_one_value_is_that_value_and_of_none_is_nan() -> None:
    assert intervals.percentile([7.0], 95) == (7.0, 7.0)
    assert all(math.isnan(bound) for bound in intervals.percentile([], 95))


def test_perfect_recalls_still_have_an_interval() -> None:
    low, high = intervals.balanced([(10, 10), (10, 10)])
    assert low < 1.0 == high
    assert intervals.balanced([(0, 0), (1, 1)]) == (0.0, 1.0)


def test_an_interval_over_people_is_wider_than_one_over_bursts() -> None:
    hits = [1.0] * 50 + [0.0] * 25 + [1.0] * 25
    low, high = intervals.over_groups(hits, list("a" * 25 + "b" * 25 + "c" * 25 + "d" * 25))
    narrow = intervals.over_groups(hits, [str(i) for i in range(100)])
    assert low < narrow[0] < 0.75 < narrow[1] < high + 1e-9


def test_without_observations_every_share_is_possible() -> None:
    assert intervals.over_groups([], []) == (0.0, 1.0)
