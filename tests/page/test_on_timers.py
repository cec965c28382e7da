"""Timers and alarms on the page: who sees them, the time left, and how one is cancelled."""

from __future__ import annotations

import time

import pytest

from appliance.messages.commands import StopSpeaking
from appliance.messages.tools import CancelTimer, ShownTimer, TimersList
from appliance.page import on_timers
from appliance.page.requests import Request
from appliance.page.texts import Texts
from appliance.page.visit import Visit
from tests.page.desk import Desk

EGGS = ShownTimer(4, False, "eggs <b>", 0.0, 300.0)
WAKE = ShownTimer(7, True, "", 0.0)


def set_timers(desk: Desk, *timers: ShownTimer) -> None:
    desk.box.model.handle(TimersList(timers), 0.0)


def test_each_timer_is_listed_with_its_name_and_the_time_left(desk: Desk) -> None:
    desk.pair()
    assert "None is set" in desk.text("/own/timers")
    due_s = time.time() + 3723
    set_timers(desk, ShownTimer(4, False, "eggs <b>", due_s, 7200.0), WAKE)
    page = desk.text("/own/timers")
    for words in ("eggs &lt;b&gt;", "1:02:0", "of 2:00:00", ">Alarm<"):
        assert words in page


@pytest.mark.parametrize(
    ("left_s", "shown"), [(0, "0:00:00"), (59, "0:00:59"), (3600, "1:00:00"), (86_399, "23:59:59")]
)
def test_the_time_left_is_shown_in_hours_minutes_and_seconds(left_s: int, shown: str) -> None:
    timer = ShownTimer(1, False, "", 1000.0 + left_s, 60.0)
    assert on_timers.rows((timer,), 1000.0)[0].left == shown


def test_an_overdue_timer_has_no_time_left() -> None:
    (row,) = on_timers.rows((ShownTimer(1, False, "", 900.0, 60.0),), 1000.0)
    assert row.left_s == 0


def test_a_time_of_today_is_shown_without_its_date() -> None:
    noon_s = time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
    assert on_timers.day_and_time(noon_s + 3600, noon_s) == "13:00"
    assert on_timers.day_and_time(noon_s + 86_400, noon_s) == "2026-11-23 12:00"


def test_the_summary_line_counts_timers_and_a_ringing_one_is_not_due(desk: Desk) -> None:
    noon_s = time.mktime((2126, 11, 22, 12, 0, 0, 0, 0, -1))
    tea, wake = ShownTimer(1, False, "tea", noon_s, 60.0), ShownTimer(2, True, "", noon_s + 60)
    rings = ShownTimer(3, False, "eggs", 1.0, 60.0, ringing=True)

    def line(*timers: ShownTimer, language: str = "en") -> str:
        set_timers(desk, *timers)
        return on_timers.in_a_line(Visit(desk.box, Request("GET", "/"), Texts(language), None))

    assert line() == ""
    assert line(tea) == "A timer or an alarm is set, due at 2126-11-22 12:00."
    both = "2 timers and alarms are set; the next is due at 2126-11-22 12:00."
    assert line(rings, tea, wake) == f"A timer or an alarm is ringing. {both}"
    assert line(rings) == "A timer or an alarm is ringing."
    assert line(tea, language="de") == (
        "Ein Timer oder Wecker ist gestellt, fällig: 2126-11-22 12:00."
    )


def test_an_unpaired_browser_neither_sees_nor_cancels_a_timer(desk: Desk) -> None:
    set_timers(desk, EGGS)
    assert "eggs" not in desk.text("/own/timers")
    assert desk.post("/own/timers/cancel", {"number": "4"}).status == 403
    assert desk.sent == []


def test_a_timer_is_cancelled_by_its_button(desk: Desk) -> None:
    desk.pair()
    set_timers(desk, EGGS, WAKE)
    form = {"number": "7", "token": desk.token}
    assert desk.post("/own/timers/cancel", form).status == 303
    assert desk.sent == [CancelTimer(7)]


def test_cancelling_an_absent_timer_is_not_an_error(desk: Desk) -> None:
    desk.pair()
    assert desk.post("/own/timers/cancel", {"number": "4", "token": desk.token}).status == 303
    assert desk.sent == []


@pytest.mark.parametrize("number", ["", "x", "-1", "4; 5", "\u0664", "9" * 400])
def test_an_invalid_number_cancels_nothing(desk: Desk, number: str) -> None:
    desk.pair()
    set_timers(desk, EGGS)
    desk.post("/own/timers/cancel", {"number": number, "token": desk.token})
    assert desk.sent == []


def test_a_ringing_timer_can_be_stopped_on_the_page(desk: Desk) -> None:
    desk.pair()
    set_timers(desk, ShownTimer(4, False, "eggs", 1.0, 60.0, ringing=True))
    page = desk.text("/own/timers")
    assert "rings now" in page
    assert "/own/timers/cancel" not in page
    form = {"do": "stop", "back": "/own/timers", "token": desk.token}
    reply = desk.post("/do", form)
    assert dict(reply.headers)["Location"] == "/own/timers"
    assert desk.sent == [StopSpeaking()]


def test_a_box_that_accepts_no_messages_is_an_error(desk: Desk) -> None:
    desk.pair()
    set_timers(desk, EGGS)
    desk.accepts_messages = False
    assert desk.post("/own/timers/cancel", {"number": "4", "token": desk.token}).status == 503
