"""Formats times, dates and lengths of time as spoken text, and parses times of day. Pure.

In: times, seconds and the catalogue of a language. Out: text without a full stop.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from appliance.language.catalogue import Catalogue

HOUR_S, DAY_S = 3600.0, 86_400.0
# The hour at which a part of the day ends, and its name in the catalogue.
_PARTS = ((5, "night"), (12, "morning"), (18, "afternoon"), (22, "evening"), (24, "night"))
TOMORROW = "tomorrow "
_CLOCK = re.compile(r"([0-9]{1,2})(?:[:.h ]?([0-9]{2}))? ?(am|pm|a\.m\.?|p\.m\.?)?")


@dataclass(frozen=True)
class ClockReading:
    """The present time on both clocks.

    boot_s  CLOCK_BOOTTIME: starts at boot, never jumps, continues in suspend
    wall_s  seconds since 1970: may be wrong until set by the network, and jumps then
    zone    time zone; None: the machine's own
    """

    boot_s: float
    wall_s: float
    zone: tzinfo | None = None

    def local(self, wall_s: float | None = None) -> datetime:
        """Return `wall_s`, or the present time, as a local datetime."""
        return datetime.fromtimestamp(self.wall_s if wall_s is None else wall_s, self.zone)


def spoken_number(number: int, words: Catalogue) -> str:
    """Return the number in words if the catalogue has them, else in digits, which a voice reads
    well enough."""
    return _nth(words.list("number-words"), number) or str(number)


def spoken_time(when: datetime, words: Catalogue) -> str:
    """Return a time: ten past nine, half past nine, twenty-three minutes to ten, nine o'clock."""
    hour, minute = when.hour, when.minute

    def spoken(number: int) -> str:
        return spoken_number(number, words)

    return words.say(
        "clock",
        minute=minute,
        hour24=hour,
        hour=spoken(hour),
        hour12=spoken(hour % 12 or 12),
        next12=spoken((hour + 1) % 12 or 12),
        minutes=spoken(minute),
        past=spoken(minute),
        to=spoken(60 - minute),
        side="to" if minute > 30 else "past",
    )


def spoken_date(when: datetime, words: Catalogue) -> str:
    """Return a date: Saturday, the twenty-first of November."""
    return words.say(
        "date",
        weekday=_weekday(when, words),
        day=_nth(words.list("day-words"), when.day - 1) or str(when.day),
        month=_nth(words.list("month-words"), when.month - 1) or str(when.month),
    )


def spoken_time_of_day(when: datetime, words: Catalogue) -> str:
    """Return a time with its part of the day: half past seven in the morning."""
    part = next(name for before, name in _PARTS if when.hour < before)
    return words.say("clock-of-day", clock=spoken_time(when, words), part=part)


def spoken_when(when: datetime, now: datetime, words: Catalogue) -> str:
    """Return a time with its day if not today: tomorrow at half past seven in the morning."""
    days = (when.date() - now.date()).days
    return words.say(
        "when",
        day="today" if days == 0 else "tomorrow" if days == 1 else "later",
        weekday=_weekday(when, words),
        clock=spoken_time_of_day(when, words),
    )


def spoken_length(seconds: float, words: Catalogue) -> str:
    """Return a length: five minutes, one and a half minutes, one hour and ten minutes. From two
    minutes on it is rounded to minutes."""
    rounded = max(0, round(seconds))
    if rounded >= 120:
        rounded = 60 * round(rounded / 60)
    if rounded == 90:
        return words.say("length-minute-and-a-half")
    hours, rest = divmod(rounded, 3600)
    minutes, seconds_left = divmod(rest, 60)
    parts = [
        words.say(f"length-{unit}", count=count, words=spoken_number(count, words))
        for count, unit in ((hours, "hours"), (minutes, "minutes"), (seconds_left, "seconds"))
        if count
    ]
    if not parts:
        return words.say("length-none")
    first, *more = parts
    return words.say("length-joined", first=first, second=more[0]) if more else first


def _weekday(when: datetime, words: Catalogue) -> str:
    return words.list("weekday-words")[when.weekday()]


def _nth(names: tuple[str, ...], number: int) -> str:
    return names[number] if number < len(names) else ""


def parse_time(text: str, now: ClockReading) -> float | None:
    """Return the next time, in seconds since 1970, at which the local clock shows `text`, "07:30"
    or "7 pm"; after a leading "tomorrow", the time on the next calendar day.

    Return None if it is no time of day.
    """
    text = text.strip().lower()
    tomorrow = text.startswith(TOMORROW)
    found = _CLOCK.fullmatch(text.removeprefix(TOMORROW))
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    half = (found[3] or "").replace(".", "")
    if minute > 59 or hour > 23 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    local_now = now.local()
    when = local_now.replace(hour=hour, minute=minute, second=0, microsecond=0, fold=0)
    if tomorrow:
        return (when + timedelta(days=1)).timestamp()
    again = when.replace(fold=1)  # when the clock is put back, an hour occurs twice
    if when.timestamp() <= now.wall_s < again.timestamp():
        return again.timestamp()
    if when <= local_now:
        when += timedelta(days=1)  # a calendar day: 23 or 25 hours when the clock is changed
    return when.timestamp()
