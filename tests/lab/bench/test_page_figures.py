"""The comparison of two conditions sound by sound: ratios and the sign test."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lab.bench.page_figures import PageCondition, pairs, ratio, sign_test, tables


def test_only_sounds_with_a_value_in_both_conditions_are_compared() -> None:
    assert pairs({(0, 1): 20.0, (0, 2): 30.0, (1, 0): 9.0}, {(1, 0): 8.0, (0, 1): 21.0}) == (
        [20.0, 9.0],
        [21.0, 8.0],
    )


def test_equal_values_have_a_ratio_of_one_and_a_p_value_of_one() -> None:
    values = [float(n) for n in range(20, 60)]
    assert ratio(values, values, 50) == (1.0, (1.0, 1.0))
    assert sign_test(values, values) == 1.0


def test_equal_distributions_are_not_distinguished_and_slower_ones_are() -> None:
    rng = np.random.default_rng(3)
    base, same = (list(map(float, rng.normal(25, 3, 64))) for _ in range(2))
    slower = [1.3 * value + float(rng.normal()) for value in base]
    _, (low, high) = ratio(base, same, 50)
    assert low < 1.0 < high
    assert sign_test(base, same) > 0.05
    value, (low, high) = ratio(base, slower, 95)
    assert 1.0 < low < value < high
    assert sign_test(base, slower) < 0.001


@pytest.mark.parametrize(("more", "less", "p"), [(5, 0, 0.0625), (8, 2, 0.109375), (0, 0, 1.0)])
def test_the_sign_test_is_exact(more: int, less: int, p: float) -> None:
    base = [1.0] * (more + less)
    assert sign_test(base, [2.0] * more + [0.0] * less) == pytest.approx(p)


def test_one_pair_gives_no_ratio() -> None:
    assert math.isnan(ratio([1.0], [2.0], 50)[0])


def test_the_tables_have_each_condition_and_the_resources_of_the_page() -> None:
    off = PageCondition("no page", {(0, n): 20.0 + n for n in range(8)}, seconds=60.0)
    on = PageCondition("looked at", {(0, n): 40.0 + n for n in range(8)}, seconds=60.0, cpu_s=0.6)
    on.most_mib, on.visits, on.dropouts = 31.25, {"live views": 3}, {"capture": 0, "playback": 2}
    stop, _, ratios, counts = tables([off, on])
    assert [row[0] for row in stop.rows] == ["no page", "looked at"]
    assert stop.rows[1][5] == 8
    assert str(ratios.rows[0][2]).startswith("1.85")
    assert counts.rows[0][-3:] == ("–", "–", "–")
    assert counts.rows[1][-4:] == ("2 [0.2, 7.2]", 1.0, 31.2, 0)
    assert counts.notes[0] == "looked at: live views: 3."
