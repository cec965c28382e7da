"""When a part has ended too often for the box to go on with this start."""

from __future__ import annotations

import pytest

from appliance.runtime.supervision.backoff import FAILED_AT
from appliance.runtime.supervision.failure_rate import ENDS, WITHIN_S, FailureRate


def after(times_s: list[float]) -> bool:
    ends = FailureRate()
    for at_s in times_s:
        assert not ends.too_many
        ends.ended(at_s)
    return ends.too_many


@pytest.mark.parametrize("period_s", [0.2, 20.0, 120.0, WITHIN_S / (ENDS - 1)])
def test_so_many_ends_in_a_quarter_of_an_hour_are_too_many_however_long_it_worked(
    period_s: float,
) -> None:
    assert after([number * period_s for number in range(ENDS)])


def test_one_fewer_or_ends_farther_apart_are_not() -> None:
    assert not after([0.0] * (ENDS - 1))
    apart_s = WITHIN_S / (ENDS - 1) + 1.0
    assert not after([number * apart_s for number in range(100)])


def test_a_part_is_called_failed_before_the_box_is_given_up() -> None:
    assert FAILED_AT < ENDS
