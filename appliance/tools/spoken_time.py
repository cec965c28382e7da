"""Times, days and lengths of time as people say them, and read back. Pure.

In: moments and seconds. Out: words, without a capital and without a full stop.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from appliance.tools.spoken_numbers import in_words, ordinal

HOUR_S, DAY_S = 3600.0, 86_400.0
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = """January February March April May June July August September October November
December""".split()
_PARTS = ((5, "at night"), (12, "in the morning"), (18, "in the afternoon"), (22, "in the evening"),
          (24, "at night"))  # fmt: skip
_CLOCK = re.compile(r"([0-9]{1,2})(?:[:.h ]?([0-9]{2}))? ?(am|pm|a\.m\.?|p\.m\.?)?")


@dataclass(frozen=True)
class ClockReading:
    """Now, by both clocks.

    boot_s  CLOCK_BOOTTIME: never jumps, goes on while the machine sleeps, begins at its start
    wall_s  since 1970: may be wrong until the network has set it, and jumps then
    zone    None: the machine's own
    """

    boot_s: float
    wall_s: float
    zone: tzinfo | None = None

    def local(self, wall_s: float | None = None) -> datetime:
        """The owner's clock and calendar at `wall_s`, or now."""
        return datetime.fromtimestamp(self.wall_s if wall_s is None else wall_s, self.zone)


def spoken_time(when: datetime) -> str:
    """ten past nine, half past nine, twenty-three minutes to ten, nine o'clock."""
    hour, minute = when.hour % 12 or 12, when.minute
    if minute == 0:
        return f"{in_words(hour)} o'clock"
    if minute > 30:
        hour, minute, side = hour % 12 + 1, 60 - minute, "to"
    else:
        side = "past"
    if minute in (15, 30):
        return f"{'half' if minute == 30 else 'a quarter'} {side} {in_words(hour)}"
    unit = "" if minute % 5 == 0 else " minute" if minute == 1 else " minutes"
    return f"{in_words(minute)}{unit} {side} {in_words(hour)}"


def spoken_date(when: datetime) -> str:
    """Saturday, the twenty-first of November."""
    return f"{_DAYS[when.weekday()]}, the {ordinal(when.day)} of {_MONTHS[when.month - 1]}"


def part_of_day(when: datetime) -> str:
    return next(name for before, name in _PARTS if when.hour < before)


def spoken_when(when: datetime, now: datetime) -> str:
    """[tomorrow at] half past seven in the morning."""
    days = (when.date() - now.date()).days
    day = "" if days == 0 else "tomorrow at " if days == 1 else f"{_DAYS[when.weekday()]} at "
    return f"{day}{spoken_time(when)} {part_of_day(when)}"


def spoken_length(seconds: float) -> str:
    """five minutes, one and a half minutes, one hour and ten minutes. Seconds only below two
    minutes, where they matter."""
    whole = max(0, round(seconds))
    if whole >= 120:
        whole = 60 * round(whole / 60)
    if whole == 90:
        return "one and a half minutes"
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    parts = [
        f"{in_words(count)} {unit}{'' if count == 1 else 's'}"
        for count, unit in ((hours, "hour"), (minutes, "minute"), (left, "second"))
        if count
    ]
    return " and ".join(parts) or "no time"


def parse_time(text: str, now: ClockReading) -> float | None:
    """When the owner's clock says `text` next, "07:30" or "7 pm", in seconds since 1970.

    None if it is no time of day.
    """
    found = _CLOCK.fullmatch(text.strip().lower())
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    half = (found[3] or "").replace(".", "")
    if minute > 59 or hour > 23 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    here = now.local()
    when = here.replace(hour=hour, minute=minute, second=0, microsecond=0, fold=0)
    again = when.replace(fold=1)  # where the clock is put back an hour comes twice
    if when.timestamp() <= now.wall_s < again.timestamp():
        return again.timestamp()
    if when <= here:
        when += timedelta(days=1)  # the calendar's: an hour more or less when clocks are changed
    return when.timestamp()
