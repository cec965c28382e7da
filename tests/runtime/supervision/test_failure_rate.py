"""The number of ends of a part within a period after which the supervisor gives up."""

from __future__ import annotations

import pytest

from appliance.runtime.supervision.backoff import FAILED_AT
from appliance.runtime.supervision.failure_rate import ENDS, WITHIN_S, FailureRate


def after(times_s: list[float]) -> bool:
    failures = FailureRate()
    for at_s in times_s:
        assert not failures.too_many
        failures.ended(at_s)
    return failures.too_many


@pytest.mark.parametrize("period_s", [0.2, 20.0, 120.0, WITHIN_S / (ENDS - 1)])
def test_the_limit_of_ends_within_the_period_does_not_depend_on_the_uptime(period_s: float) -> None:
    assert after([number * period_s for number in range(ENDS)])


def test_one_end_fewer_or_ends_farther_apart_are_not_too_many() -> None:
    assert not after([0.0] * (ENDS - 1))
    apart_s = WITHIN_S / (ENDS - 1) + 1.0
    assert not after([number * apart_s for number in range(100)])


def test_a_part_is_reported_as_failed_before_the_supervisor_gives_up() -> None:
    assert FAILED_AT < ENDS
