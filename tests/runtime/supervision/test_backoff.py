"""Back-off: growth of the pauses, forgiveness by uptime, and when a process has failed."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.runtime.supervision.backoff import (
    CHRONIC_AT,
    FAILED_AT,
    LONGEST_NEEDED_S,
    LONGEST_S,
    BackOff,
)


def pauses_of(back_off: BackOff, takes_s: float, works_s: float, times: int) -> list[float]:
    """Pauses of a process that starts in `takes_s`, runs for `works_s` and ends, `times` times."""
    now_s, pauses = 0.0, []
    for _ in range(times):
        back_off.started(now_s)
        now_s += takes_s
        if works_s:
            back_off.up(now_s)
        now_s += works_s
        pauses.append(back_off.ended(now_s))
        now_s += pauses[-1]
    return pauses


@pytest.mark.parametrize(
    ("longest_s", "pauses"),
    [
        (LONGEST_S, [0, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]),
        (LONGEST_NEEDED_S, [0, 0.25, 0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30]),
    ],
)
def test_pauses_double_up_to_a_limit(longest_s: float, pauses: list[float]) -> None:
    assert pauses_of(BackOff(longest_s), takes_s=0.1, works_s=0.0, times=14) == pauses


def test_the_first_end_after_long_uptime_causes_no_pause() -> None:
    assert pauses_of(BackOff(LONGEST_S), takes_s=1.0, works_s=3600.0, times=3) == [0, 0, 0]


def test_a_large_model_that_dies_45_s_after_each_start_is_loaded_ever_less_often() -> None:
    back_off, now_s, starts = BackOff(LONGEST_S), 0.0, 0
    while now_s < 2 * 3600:
        back_off.started(now_s)
        starts += 1
        now_s += 60.0
        back_off.up(now_s)
        now_s += 45.0
        now_s += back_off.ended(now_s)
    assert 10 < starts <= 30  # without back-off: 69


def test_a_light_process_that_dies_45_s_after_each_start_is_slowed_as_well() -> None:
    pauses = pauses_of(BackOff(LONGEST_S), takes_s=0.5, works_s=45.0, times=60)
    assert pauses[-1] == LONGEST_S
    assert pauses == sorted(pauses)


def test_a_minute_of_uptime_forgives_one_end_only() -> None:
    back_off = BackOff(LONGEST_S)
    pauses_of(back_off, takes_s=0.5, works_s=0.0, times=6)
    back_off.started(100.0)
    back_off.up(101.0)
    assert back_off.strikes(101.0 + 60.0) == pytest.approx(5.0)
    assert back_off.ended(101.0 + 60.0) == 4.0  # unchanged


def test_a_slow_start_is_forgiven_slowly() -> None:
    back_off = BackOff(LONGEST_S)
    pauses_of(back_off, takes_s=60.0, works_s=0.0, times=3)
    back_off.started(1000.0)
    back_off.up(1060.0)
    assert back_off.strikes(1060.0 + 60.0) == pytest.approx(2.9)
    assert back_off.strikes(1060.0 + 600.0) == pytest.approx(2.0)


def test_a_part_has_failed_from_the_fifth_consecutive_end_until_it_is_up() -> None:
    back_off, failed = BackOff(LONGEST_S), []
    pauses_of(back_off, takes_s=0.1, works_s=0.0, times=FAILED_AT - 1)
    failed.append(back_off.failed)
    pauses_of(back_off, takes_s=0.1, works_s=0.0, times=1)
    failed.append(back_off.failed)
    back_off.started(10.0)
    failed.append(back_off.failed)
    back_off.up(11.0)
    failed.append(back_off.failed)
    assert failed == [False, True, True, False]


def test_a_crash_looping_process_is_chronic_until_it_has_stayed_up() -> None:
    back_off = BackOff(LONGEST_NEEDED_S)
    pauses_of(back_off, takes_s=0.1, works_s=1.0, times=int(CHRONIC_AT) + 2)
    back_off.started(1000.0)
    back_off.up(1000.0)
    assert back_off.chronic(1001.0)
    assert not back_off.chronic(1000.0 + 3 * 60.0)


@given(
    st.booleans(),
    st.lists(st.tuples(st.floats(0, 400), st.floats(0, 4000), st.booleans()), max_size=60),
)
def test_the_pause_never_exceeds_the_limit(
    needed: bool, attempts: list[tuple[float, float, bool]]
) -> None:
    longest_s = LONGEST_NEEDED_S if needed else LONGEST_S
    back_off, now_s = BackOff(longest_s), 0.0
    for takes_s, works_s, comes_up in attempts:
        back_off.started(now_s)
        now_s += takes_s
        if comes_up:
            back_off.up(now_s)
        before = back_off.strikes(now_s)
        now_s += works_s
        assert back_off.strikes(now_s) <= before
        pause_s = back_off.ended(now_s)
        assert 0.0 <= pause_s <= longest_s
        now_s += pause_s


@given(st.floats(0, 59), st.integers(20, 40))
def test_uptimes_below_a_minute_lead_to_the_longest_pause(works_s: float, more: int) -> None:
    times = round(more * 60 / (60 - works_s))
    pauses = pauses_of(
        BackOff(LONGEST_NEEDED_S), takes_s=0.5, works_s=works_s, times=min(times, 2000)
    )
    assert all(later >= earlier for earlier, later in itertools.pairwise(pauses))
    if times <= 2000:
        assert pauses[-1] == LONGEST_NEEDED_S
