"""A token bucket passes a burst, then its rate, for any sequence of requests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from appliance.token_bucket import TokenBucket


def passed(bucket: TokenBucket, *times_s: float) -> list[bool]:
    return [bucket.try_spend(now_s) for now_s in times_s]


def test_a_burst_passes_at_once_and_then_the_rate_applies() -> None:
    bucket = TokenBucket(3, 0.5, 100.0)
    assert passed(bucket, 100.0, 100.0, 100.0, 100.0) == [True, True, True, False]
    assert passed(bucket, 101.9, 102.1, 102.1, 104.2) == [False, True, False, True]


def test_a_pause_saves_no_more_than_a_burst() -> None:
    bucket = TokenBucket(2, 1.0, 0.0)
    assert passed(bucket, 1e9, 1e9, 1e9) == [True, True, False]


def test_the_bucket_can_start_empty() -> None:
    bucket = TokenBucket(1, 1 / 60, 0.0, ready=0)
    assert passed(bucket, 0.0, 59.0, 61.0, 62.0) == [False, False, True, False]


def test_an_overdraft_is_refilled_first() -> None:
    bucket = TokenBucket(10, 1.0, 0.0)
    bucket.spend(15)
    assert bucket.tokens(5.5) == 0.5
    assert bucket.tokens(6.5) == 1.5


def test_a_clock_that_stops_or_goes_back_adds_no_tokens() -> None:
    bucket = TokenBucket(1, 1000.0, 10.0)
    assert passed(bucket, 10.0, 10.0, 9.0) == [True, False, False]


@given(
    st.lists(st.floats(0.0, 5.0), max_size=80),
    st.integers(1, 20),
    st.floats(0.01, 10.0),
)
def test_never_more_than_the_burst_and_the_rate_pass(
    gaps_s: list[float], burst: int, rate_hz: float
) -> None:
    bucket, now_s, count = TokenBucket(burst, rate_hz, 0.0), 0.0, 0
    for gap_s in gaps_s:
        now_s += gap_s
        count += bucket.try_spend(now_s)
    assert count <= burst + now_s * rate_hz + 1e-6
