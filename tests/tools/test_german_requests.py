"""Parsing of plain requests, numbers, durations and times of day in German."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from appliance.language.catalogue import catalogue
from appliance.tools.german_requests import clock, minutes, number
from appliance.tools.intents import PlainRequest, parse_intent
from appliance.tools.spoken_time import spoken_length, spoken_number, spoken_time
from appliance.tools.tool_call_syntax import ToolCall

GERMAN = catalogue("de")


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("Wie spät ist es?", ToolCall("time")),
        ("Wie spaet ist es", ToolCall("time")),
        ("Sag mir bitte die Uhrzeit.", ToolCall("time")),
        ("Wieviel Uhr ist es jetzt?", ToolCall("time")),
        ("Welcher Tag ist heute?", ToolCall("date")),
        ("Den Wievielten haben wir heute?", ToolCall("date")),
        ("Stell einen Timer auf fünf Minuten", ToolCall("timer", {"minutes": 5})),
        ("stelle bitte einen timer auf fuenf minuten", ToolCall("timer", {"minutes": 5})),
        ("Timer auf 10 Minuten, bitte!", ToolCall("timer", {"minutes": 10})),
        ("Kannst du mir einen Timer für eine Viertelstunde stellen?",
         ToolCall("timer", {"minutes": 15})),
        ("Starte einen Fünf-Minuten-Timer", ToolCall("timer", {"minutes": 5})),
        ("Weck mich in zehn Minuten", ToolCall("timer", {"minutes": 10})),
        ("Stell einen Timer auf eineinhalb Stunden", ToolCall("timer", {"minutes": 90})),
        ("Stell den Wecker auf halb acht", ToolCall("alarm", {"at": "07:30"})),
        ("Weck mich morgen um Viertel nach sechs", ToolCall("alarm", {"at": "tomorrow 06:15"})),
        ("Wecke mich um sieben Uhr dreißig.", ToolCall("alarm", {"at": "07:30"})),
        ("Einen Wecker auf 19:30 Uhr stellen", ToolCall("alarm", {"at": "19:30"})),
        ("Lösche den Timer", ToolCall("cancel_timer")),
        ("Mach den Wecker aus!", ToolCall("cancel_timer")),
        ("Timer stopp", ToolCall("cancel_timer")),
        ("Wie lange noch?", ToolCall("timers")),
        ("Lauter", ToolCall("volume", {"change": "up"})),
        ("Sprich bitte leiser", ToolCall("volume", {"change": "down"})),
        ("Sag das nochmal", ToolCall("repeat")),
        ("Vergiss das", ToolCall("forget")),
        ("Schalte bitte das Licht in der Küche aus.",
         ToolCall("home", {"command": "schalte das licht in der küche aus"})),
        ("Kannst du die Heizung im Bad einschalten?",
         ToolCall("home", {"command": "die heizung im bad einschalten"})),
    ],
)  # fmt: skip
def test_a_plain_request_is_understood(words: str, call: ToolCall) -> None:
    assert parse_intent(words) == PlainRequest(call, "de")


@pytest.mark.parametrize(
    "words",
    [
        "Wie spät ist es in Tokio?", "Stell einen Timer", "Stell einen Timer auf ewig",
        "Timer auf fünf", "Stell den Wecker auf irgendwann", "Lösche den Timer nicht",
        "Vergiss es", "lauter als eine Bombe", "Schalte das Licht nicht aus",
        "Mach das Licht nie an", "Mach dich aus", "Weck mich sieben", "Stell den Wecker auf 25 Uhr",
        "Warum hast du das gesagt", "Schalte kein Licht an",
    ],
)  # fmt: skip
def test_a_request_that_is_not_plain_is_left_to_the_model(words: str) -> None:
    assert parse_intent(words) is None


@pytest.mark.parametrize(
    ("words", "at"),
    [
        ("halb acht", "07:30"), ("Viertel nach drei", "03:15"), ("viertel vor drei", "02:45"),
        ("viertel drei", "02:15"), ("dreiviertel drei", "02:45"), ("fünf vor halb acht", "07:25"),
        ("fünf nach halb acht", "07:35"), ("zehn Minuten nach sieben", "07:10"),
        ("zwanzig vor eins", "12:40"), ("halb eins nachts", "00:30"), ("19 Uhr", "19:00"),
        ("7.30 Uhr", "07:30"), ("acht Uhr abends", "20:00"), ("heute Abend um acht", "20:00"),
        ("um sieben am Morgen", "07:00"), ("zwei Uhr nachmittags", "14:00"),
        ("zwölf Uhr mittags", "12:00"), ("Mitternacht", "00:00"), ("elf Uhr nachts", "23:00"),
        ("morgen um halb acht", "tomorrow 07:30"), ("morgen Abend um 8", "tomorrow 20:00"),
    ],
)  # fmt: skip
def test_a_time_of_day_is_parsed(words: str, at: str) -> None:
    assert clock(words) == at


@pytest.mark.parametrize(
    "words", ["", "halb", "viertel nach", "24 Uhr", "sieben Uhr siebzig", "7:60", "bald",
              "halb nach sieben", "vierzig nach drei", "zweieinhalb"],
)  # fmt: skip
def test_an_invalid_time_of_day_gives_none(words: str) -> None:
    assert clock(words) is None


def test_every_time_that_the_box_speaks_is_parsed_back() -> None:
    midnight = datetime(2026, 11, 21, tzinfo=UTC)
    for minute in range(24 * 60):
        when = midnight + timedelta(minutes=minute)
        assert clock(spoken_time(when, GERMAN)) == f"{when:%H:%M}"


def test_every_duration_that_the_box_speaks_is_parsed_back() -> None:
    for seconds in (*range(1, 120), *range(120, 86_400, 60)):
        found = minutes(spoken_length(seconds, GERMAN).lower())
        assert found is not None, seconds
        assert round(60 * found) == seconds


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("einer halben stunde", 30), ("anderthalb stunden", 90), ("zweieinhalb minuten", 2.5),
     ("einer dreiviertelstunde", 45), ("hundertzwanzig sekunden", 2), ("2,5 minuten", 2.5),
     ("einer halben minute", 0.5)],
)  # fmt: skip
def test_a_duration_is_parsed(words: str, wanted: float) -> None:
    assert minutes(words) == pytest.approx(wanted)


@pytest.mark.parametrize("words", ["", "fünf", "ewig", "fünf minuten und", "minuten", "eine woche"])
def test_an_invalid_duration_gives_none(words: str) -> None:
    assert minutes(words) is None


def test_spoken_numbers_up_to_a_hundred_and_more_are_parsed() -> None:
    assert [number(spoken_number(value, GERMAN)) for value in range(60)] == list(range(60))
    assert [number(word) for word in ("neunundneunzig", "hundert", "einhundertfünf", "zwo")] == [
        99, 100, 105, 2,
    ]  # fmt: skip
    assert [number(word) for word in ("", "nullundzwanzig", "zehneins", "1e5", "hundertnull")] == (
        [None] * 5
    )
