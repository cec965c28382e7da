"""The German sentences of the tools."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from appliance.language.catalogue import catalogue
from appliance.tools.spoken_time import (
    ClockReading,
    spoken_date,
    spoken_length,
    spoken_time,
    spoken_when,
)
from appliance.tools.timers import Timer, Timers
from appliance.tools.tool_call_syntax import ToolCall, Value
from appliance.tools.toolbox import Toolbox, ToolContext, missed_sentence, ringing_sentence

GERMAN = catalogue("de")
NINE_TEN = datetime(2026, 11, 21, 9, 10, tzinfo=UTC)  # a Saturday
NOW = ClockReading(1000.0, NINE_TEN.timestamp(), UTC)


@pytest.mark.parametrize(
    ("clock", "words"),
    [("09:10", "neun Uhr zehn"), ("01:00", "ein Uhr"), ("13:01", "dreizehn Uhr eins"),
     ("00:00", "null Uhr"), ("21:45", "einundzwanzig Uhr fünfundvierzig")],
)  # fmt: skip
def test_a_time_is_spoken_in_german(clock: str, words: str) -> None:
    assert spoken_time(datetime.strptime(clock, "%H:%M").replace(tzinfo=UTC), GERMAN) == words


def test_every_minute_of_the_day_has_a_distinct_name() -> None:
    minutes = [NINE_TEN + timedelta(minutes=minute) for minute in range(24 * 60)]
    assert len({spoken_time(minute, GERMAN) for minute in minutes}) == 24 * 60


def test_dates_and_future_times_are_spoken_in_german() -> None:
    assert spoken_date(NINE_TEN, GERMAN) == "Samstag, der einundzwanzigste November"
    spoken = [spoken_when(NINE_TEN + timedelta(days=days), NINE_TEN, GERMAN) for days in (0, 1, 2)]
    assert spoken == ["neun Uhr zehn", "morgen um neun Uhr zehn", "Montag um neun Uhr zehn"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "eine Sekunde"), (60, "eine Minute"), (61, "eine Minute und eine Sekunde"),
     (90, "anderthalb Minuten"), (300, "fünf Minuten"), (3600, "eine Stunde"),
     (4200, "eine Stunde und zehn Minuten"), (7200, "zwei Stunden"), (0, "gar keine Zeit")],
)  # fmt: skip
def test_a_duration_has_the_right_plural(seconds: float, words: str) -> None:
    assert spoken_length(seconds, GERMAN) == words


def says(box: Toolbox, tool: str, **arguments: Value) -> str:
    lines = box.run(ToolCall(tool, arguments), NOW, ToolContext(language="de")).lines
    assert lines is not None
    return " ".join(lines)


def test_timers_are_set_listed_and_cancelled_in_german() -> None:
    box = Toolbox(Timers())
    assert says(box, "timer", minutes=5.0) == "Fünf Minuten, ab jetzt."
    assert says(box, "timer", minutes=1.0, name="Eier") == "Eier: eine Minute, ab jetzt."
    assert says(box, "alarm", at="07:30") == (
        "Der Wecker ist auf morgen um sieben Uhr dreißig gestellt."
    )
    assert says(box, "timers") == (
        "Eier: noch eine Minute. Noch fünf Minuten. Ein Wecker für morgen um sieben Uhr dreißig."
    )
    assert says(box, "cancel_timer", name="Eier") == "Eier: der Timer ist aus."
    assert says(box, "cancel_timer", name="Nudeln") == "Es gibt keinen Timer namens nudeln."


def test_numbers_and_times_in_words_are_accepted_from_a_model() -> None:
    box = Toolbox(Timers())
    assert says(box, "timer", minutes="fünf") == "Fünf Minuten, ab jetzt."
    assert says(box, "timer", minutes="ten") == "Zehn Minuten, ab jetzt."
    assert says(box, "alarm", at="halb acht") == (
        "Der Wecker ist auf morgen um sieben Uhr dreißig gestellt."
    )
    assert says(box, "alarm", at="bald").startswith("Die Zeit für den Wecker habe ich nicht")


def test_ringing_and_missed_timers_are_announced_in_german() -> None:
    timer = Timer(1, "", 300.0, 1000.0, NOW.wall_s)
    assert ringing_sentence(timer, NOW, GERMAN) == "Dein Timer ist abgelaufen: fünf Minuten."
    alarm = Timer(2, "arzt", due_wall_s=NOW.wall_s)
    assert ringing_sentence(alarm, NOW, GERMAN) == "Es ist neun Uhr zehn: arzt."
    assert missed_sentence(alarm, NOW, GERMAN) == (
        "Während ich aus war, hätte um neun Uhr zehn dein Wecker geklingelt: arzt."
    )


@pytest.mark.parametrize("tool", ["time", "date", "volume", "repeat", "home", "nonsense"])
def test_no_tool_falls_back_to_english(tool: str) -> None:
    german = says(Toolbox(Timers()), tool)
    english = Toolbox(Timers()).run(ToolCall(tool, {}), NOW, ToolContext()).lines
    assert english is not None
    assert german != " ".join(english)
