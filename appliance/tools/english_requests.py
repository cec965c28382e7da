"""The table of simple English requests, with parsers for lengths of time and times of day."""

from __future__ import annotations

import re

from appliance.tools.request_grammar import (
    RequestGrammar,
    Row,
    alarm,
    always,
    at,
    before_or_after,
    house,
    remove_matches,
    timer,
)
from appliance.tools.spoken_numbers import parse_number

_UNITS = {"second": 1 / 60, "minute": 1.0, "hour": 60.0}
_POLITE = (
    re.compile(r"^(please|hey|okay|can you|could you|would you) "),
    re.compile(r" (please|now)$"),
)
_AND_A_HALF = re.compile(r"\b(\S+) (hours?|minutes?) and a half\b")
_LENGTH = re.compile(
    r"(?P<count>[a-z0-9. -]+?) (?P<unit>second|minute|hour)s?(?: (?:and )?(?P<rest>.+))?"
)
_DAY = r"(?P<day>tomorrow|tonight|today)(?: (?P<half>morning|afternoon|evening|night))?"
_DAY_FIRST = re.compile(rf"{_DAY}(?: at)? (?P<clock>.+)")
_DAY_LAST = re.compile(rf"(?P<clock>.+) {_DAY}")
_HALF = re.compile(
    r"(?P<clock>.+?)(?: in the (?P<part>morning|afternoon|evening)| at (?P<night>night)|"
    r" ?(?P<letter>[ap])\.?m\.?)"
)
_DIGITS = re.compile(r"(?P<hour>[0-9]{1,2})(?:[:.](?P<minute>[0-9]{2}))?")
_RELATIVE = re.compile(r"(?P<count>half|(?:a )?quarter|[a-z0-9 -]+?)(?: minutes?)? "
                     r"(?P<side>past|to|after|before) (?P<hour>[a-z0-9-]+)")  # fmt: skip
_PLAIN_TIME = re.compile(r"(?P<hour>[a-z0-9]+)(?: o'clock| (?P<minute>(?:oh |o )?[a-z0-9 -]+))?")
_LATE = 5  # "at night" means after noon from this hour on
_NAMED = {"noon": (12, 0), "midday": (12, 0), "midnight": (0, 0)}


def minutes(words: str) -> float | None:
    """Parse "five minutes", "an hour and a half", "one hour and ten minutes"; None if invalid."""
    found = _LENGTH.fullmatch(_AND_A_HALF.sub(r"\1 and a half \2", words))
    if found is None:
        return None
    count, rest = parse_number(found["count"]), 0.0
    if found["rest"]:
        more = minutes(found["rest"])
        if more is None:
            return None
        rest = more
    return None if count is None else count * _UNITS[found["unit"]] + rest


def clock(words: str) -> str | None:
    """Parse "half past seven", "7 pm", "tomorrow at a quarter to eight"; None if invalid.

    Without a part of the day the hour is taken as one of 24, as with typed digits."""
    tomorrow, part = False, ""
    if found := _DAY_FIRST.fullmatch(words) or _DAY_LAST.fullmatch(words):
        words, tomorrow = found["clock"], found["day"] == "tomorrow"
        part = found["half"] or ("night" if found["day"] == "tonight" else "")
    if found := _HALF.fullmatch(words):
        words, part = found["clock"], found["part"] or found["night"] or found["letter"]
    if (time := _NAMED.get(words) or _time(words)) is None:
        return None
    hour, minute = time
    if part in ("a", "p") and not 1 <= hour <= 12:
        return None
    return at(_in_part(hour, part), minute, tomorrow=tomorrow)


def _in_part(hour: float, part: str) -> float:
    """Convert an hour of a 12-hour clock to one of 24 by the part of the day."""
    if hour == 12 and part in ("a", "night"):
        return 0
    late = part in ("p", "afternoon", "evening") or (part == "night" and hour >= _LATE)
    return hour + 12 if late and hour < 12 else hour


def _time(words: str) -> tuple[float, float] | None:
    if found := _DIGITS.fullmatch(words):
        return float(found["hour"]), float(found["minute"] or 0)
    if found := _RELATIVE.fullmatch(words):
        count = {"half": 30.0, "quarter": 15.0, "a quarter": 15.0}.get(found["count"])
        offset = parse_number(found["count"]) if count is None else count
        hour = parse_number(found["hour"])
        past = found["side"] in ("past", "after")
        if hour is None or offset is None or not 0 < offset < 60 or (count == 30.0 and not past):
            return None
        return before_or_after(hour, offset, past=past)
    if found := _PLAIN_TIME.fullmatch(words):
        hour = parse_number(found["hour"])
        minute_words = re.sub(r"^(oh|o) ", "", found["minute"] or "zero")
        minute = parse_number(minute_words)
        if hour is not None and minute is not None:
            return hour, minute
    return None


def tidy(text: str) -> str:
    """Return the text's words in small letters without polite phrases."""
    letters = re.sub(r"[^a-z0-9.:' -]", " ", text.lower().replace("’", "'"))
    words = " ".join(letters.split())
    words = words if re.search(r"\b[ap]\.m\.$", words) else words.rstrip(".")
    return remove_matches(_POLITE, words.rstrip(":"))


_ROWS: tuple[Row, ...] = (
    (r"what time is it|(what is|what's|tell me) the time", always("time")),
    (r"what day is it( today)?|(what is|what's|tell me) (the|today's) date( today)?",
     always("date")),
    (r"(set|start) a timer for (?P<length>.+)", timer),
    (r"(set|start) an? (?P<length>[a-z0-9-]+ minute) timer", timer),
    (r"wake me( up)? in (?P<length>.+)", timer),
    (r"(set (an|the|my) alarm|wake me( up)?) (for|at) (?P<clock>.+)", alarm),
    (r"(set (an|the|my) alarm|wake me( up)?) (?P<clock>(tomorrow|tonight|today)\b.+)", alarm),
    (r"(cancel|stop|delete) (the|my) (timer|alarm)", always("cancel_timer")),
    (r"(what|which) timers (do i have|are there|are set)|how (long|much time) is left",
     always("timers")),
    (r"louder|speak up|turn (it|the volume) up|volume up", always("volume", change="up")),
    (r"quieter|softer|turn (it|the volume) down|volume down", always("volume", change="down")),
    (r"(say|repeat) that( again)?|say it again|what did you say", always("repeat")),
    (r"forget (that|what i said)", always("forget")),
    (r"(turn|switch) (on|off) the [a-z ]{1,60}", house),
)  # fmt: skip

GRAMMAR = RequestGrammar(_ROWS, tidy, str, parse_number, minutes, clock)
