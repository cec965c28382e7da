"""Times, dates and durations in spoken English, and the parsing of times of day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.language.catalogue import english
from appliance.tools.spoken_time import (
    ClockReading,
    parse_time,
    spoken_date,
    spoken_length,
    spoken_time,
    spoken_when,
)

ENGLISH = english()
NINE_TEN = datetime(2026, 11, 21, 9, 10, tzinfo=UTC)  # a Saturday


def at(when: datetime) -> ClockReading:
    return ClockReading(1000.0, when.timestamp(), when.tzinfo)


@pytest.mark.parametrize(
    ("clock", "words"),
    [
        ("09:10", "ten past nine"), ("09:00", "nine o'clock"), ("09:15", "a quarter past nine"),
        ("09:30", "half past nine"), ("09:45", "a quarter to ten"), ("21:50", "ten to ten"),
        ("00:00", "twelve o'clock"), ("00:05", "five past twelve"), ("12:35", "twenty-five to one"),
        ("23:59", "one minute to twelve"), ("13:01", "one minute past one"),
        ("09:23", "twenty-three minutes past nine"), ("09:37", "twenty-three minutes to ten"),
    ],
)  # fmt: skip
def test_a_time_is_spoken_idiomatically(clock: str, words: str) -> None:
    assert spoken_time(datetime.strptime(clock, "%H:%M").replace(tzinfo=UTC), ENGLISH) == words


def test_each_spoken_time_names_exactly_two_minutes_of_the_day() -> None:
    names: dict[str, int] = {}
    for minute in range(24 * 60):
        name = spoken_time(NINE_TEN.replace(hour=minute // 60, minute=minute % 60), ENGLISH)
        names[name] = names.get(name, 0) + 1
    assert set(names.values()) == {2}


def test_a_date_is_spoken_idiomatically() -> None:
    assert spoken_date(NINE_TEN, ENGLISH) == "Saturday, the twenty-first of November"


@pytest.mark.parametrize(
    ("days", "hour", "words"),
    [(0, 15, "three o'clock in the afternoon"), (1, 7, "tomorrow at seven o'clock in the morning"),
     (2, 22, "Monday at ten o'clock at night"), (1, 0, "tomorrow at twelve o'clock at night")],
)  # fmt: skip
def test_a_future_time_is_spoken_with_its_day(days: int, hour: int, words: str) -> None:
    when = (NINE_TEN + timedelta(days=days)).replace(hour=hour, minute=0)
    assert spoken_when(when, NINE_TEN, ENGLISH) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "one second"), (59, "fifty-nine seconds"), (60, "one minute"),
     (61, "one minute and one second"), (90, "one and a half minutes"), (300, "five minutes"),
     (299.6, "five minutes"), (150, "two minutes"), (3600, "one hour"),
     (4200, "one hour and ten minutes"), (7200, "two hours"), (0, "no time")],
)  # fmt: skip
def test_a_duration_is_rounded_to_a_useful_precision(seconds: float, words: str) -> None:
    assert spoken_length(seconds, ENGLISH) == words


@pytest.mark.parametrize(
    ("text", "hour", "minute", "tomorrow"),
    [("07:30", 7, 30, True), ("9:11", 9, 11, False), ("9:10", 9, 10, True),
     ("7 pm", 19, 0, False), ("12 am", 0, 0, True), ("12:05 p.m.", 12, 5, False),
     ("23", 23, 0, False), ("7.30", 7, 30, True), ("tomorrow 07:30", 7, 30, True),
     ("tomorrow 23:00", 23, 0, True)],
)  # fmt: skip
def test_a_time_of_day_means_its_next_occurrence(
    text: str, hour: int, minute: int, tomorrow: bool
) -> None:
    when = parse_time(text, at(NINE_TEN))
    assert when is not None
    day = 22 if tomorrow else 21
    assert datetime.fromtimestamp(when, UTC) == datetime(2026, 11, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["", "soon", "25:00", "7:60", "13 pm", "0 am", "half past", "7:3", "-1"]
)
def test_an_invalid_time_of_day_gives_none(text: str) -> None:
    assert parse_time(text, at(NINE_TEN)) is None


def test_an_alarm_across_the_change_to_winter_time_follows_local_time() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    evening = datetime(2026, 10, 24, 22, 0, tzinfo=berlin)
    when = parse_time("07:00", at(evening))
    assert when is not None
    assert datetime.fromtimestamp(when, berlin).strftime("%d %H:%M") == "25 07:00"
    assert (
        when - evening.timestamp() == 10 * 3600
    )  # one hour more than the difference in local time


@pytest.mark.parametrize(
    ("clock", "fold", "asked", "rings"),
    [
        ("02:30", 0, "02:45", "00:45"),  # in the repeated hour, in UTC
        ("02:30", 0, "02:15", "01:15"),
        ("02:30", 1, "02:45", "01:45"),
        ("02:30", 1, "02:15", "01:15"),  # on the next day
        ("03:10", 0, "02:30", "01:30"),
    ],
)
def test_in_the_repeated_hour_an_alarm_is_never_in_the_past(
    clock: str, fold: int, asked: str, rings: str
) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    hour, minute = map(int, clock.split(":"))
    now = at(datetime(2026, 10, 25, hour, minute, tzinfo=berlin, fold=fold))
    when = parse_time(asked, now)
    assert when is not None
    assert when > now.wall_s
    assert datetime.fromtimestamp(when, UTC).strftime("%H:%M") == rings


@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 3 * 365 * 86_400))
def test_a_time_of_day_is_within_the_next_24_hours(hour: int, minute: int, later_s: int) -> None:
    now = at(NINE_TEN + timedelta(seconds=later_s))
    when = parse_time(f"{hour:02}:{minute:02}", now)
    assert when is not None
    assert 0 < when - now.wall_s <= 86_400
    assert now.local(when).strftime("%H:%M") == f"{hour:02}:{minute:02}"
