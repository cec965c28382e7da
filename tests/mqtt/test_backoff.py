"""The delay before the next connection attempt."""

from __future__ import annotations

import pytest

from appliance.mqtt.backoff import LONGEST_S, Cause, ReconnectBackOff


def delays(cause: Cause, jitter: float, times: int = 12) -> list[float]:
    retry = ReconnectBackOff()
    return [retry.failed(cause, jitter) for _ in range(times)]


def test_delays_double_up_to_the_maximum() -> None:
    assert delays("away", 1.0, 5) == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert delays("refused", 1.0)[-1] == 60.0


@pytest.mark.parametrize("cause", LONGEST_S)
def test_jitter_takes_at_most_half_and_never_adds(cause: Cause) -> None:
    for least, most in zip(delays(cause, 0.0), delays(cause, 1.0), strict=True):
        assert least == most / 2
        assert most <= LONGEST_S[cause]


def test_the_longest_delay_leaves_time_to_reconnect_within_five_seconds() -> None:
    assert LONGEST_S["away"] < 5.0 - 1.5  # 1.5 s remain to connect and to publish everything


def test_success_resets_the_delay() -> None:
    retry = ReconnectBackOff()
    for _ in range(9):
        retry.failed("refused", 1.0)
    retry.succeeded()
    assert retry.failed("refused", 1.0) == 0.5


def test_an_hour_of_failures_does_not_overflow() -> None:
    assert delays("refused", 1.0, 5000)[-1] == 60.0
