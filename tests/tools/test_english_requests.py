"""Parsing of times of day and durations in English words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from appliance.language.catalogue import english
from appliance.tools.english_requests import clock, minutes, tidy
from appliance.tools.spoken_time import spoken_length, spoken_time, spoken_time_of_day


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ("seven", "07:00"), ("seven thirty", "07:30"), ("seven oh five", "07:05"),
        ("7 o'clock", "07:00"), ("7:30", "07:30"), ("19:30", "19:30"), ("7 pm", "19:00"),
        ("7:30 a.m.", "07:30"), ("12 am", "00:00"), ("12 pm", "12:00"),
        ("half past seven", "07:30"), ("a quarter to eight", "07:45"), ("ten to seven", "06:50"),
        ("quarter past three in the afternoon", "15:15"), ("ten at night", "22:00"),
        ("quarter to one at night", "00:45"), ("quarter to one", "12:45"), ("noon", "12:00"),
        ("midnight", "00:00"), ("tonight at eight", "20:00"), ("tonight at twelve", "00:00"),
        ("tomorrow at seven", "tomorrow 07:00"), ("seven thirty tomorrow", "tomorrow 07:30"),
        ("tomorrow evening at half past six", "tomorrow 18:30"),
    ],
)  # fmt: skip
def test_a_time_of_day_is_parsed(words: str, at: str) -> None:
    assert clock(words) == at


@pytest.mark.parametrize(
    "words", ["", "half", "half to seven", "25:00", "7:60", "seventy", "13 pm", "0 am", "seven ten "
              "eleven", "lunch", "quarter past", "sixty past seven", "two and a half"],
)  # fmt: skip
def test_an_invalid_time_of_day_gives_none(words: str) -> None:
    assert clock(words) is None


def test_every_time_that_the_box_speaks_is_parsed_back() -> None:
    midnight = datetime(2026, 11, 21, tzinfo=UTC)
    for minute in range(24 * 60):
        when = midnight + timedelta(minutes=minute)
        assert clock(spoken_time_of_day(when, english())) == f"{when:%H:%M}"
        if 1 <= when.hour <= 11:
            assert clock(spoken_time(when, english())) == f"{when:%H:%M}"


def test_every_duration_that_the_box_speaks_is_parsed_back() -> None:
    for seconds in (*range(1, 120), *range(120, 86_400, 60)):
        found = minutes(spoken_length(seconds, english()))
        assert found is not None, seconds
        assert round(60 * found) == seconds


@pytest.mark.parametrize("words", ["", "five", "ages", "five minutes and", "an hour ten"])
def test_an_invalid_duration_gives_none(words: str) -> None:
    assert minutes(words) is None


def test_tidy_keeps_the_full_stops_of_am_and_pm_and_drops_the_last() -> None:
    assert tidy("Wake me at 7 A.M.") == "wake me at 7 a.m."
    assert tidy("Can you please wake me at 7.30, please?") == "wake me at 7.30"
