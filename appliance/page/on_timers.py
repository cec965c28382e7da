"""Timers and alarms: lists them with name and remaining time, and cancels them."""

from __future__ import annotations

import time
from dataclasses import dataclass

from appliance.messages.tools import CancelTimer, ShownTimer
from appliance.page.requests import Reply, plain, see_other
from appliance.page.visit import Visit

PLACE = "/own/timers"


@dataclass(frozen=True)
class TimerRow:
    """A timer as shown. `left_s`: 0 while it rings. `due`: by the box's clock."""

    number: int
    alarm: bool
    name: str
    ringing: bool
    left_s: int
    due: str
    length: str

    @property
    def left(self) -> str:
        return clock_length(self.left_s)


def rows(timers: tuple[ShownTimer, ...], now_s: float) -> list[TimerRow]:
    """The rows for these timers. `now_s`: since 1970."""
    return [
        TimerRow(
            timer.number, timer.alarm, timer.name, timer.ringing,
            0 if timer.ringing else max(0, round(timer.due_s - now_s)),
            day_and_time(timer.due_s, now_s),
            clock_length(round(timer.length_s)) if timer.length_s else "",
        )
        for timer in timers
    ]  # fmt: skip


def in_a_line(visit: Visit) -> str:
    """A sentence with the number of timers and the time of the next, without names; "" if none."""
    now_s = time.time()
    timers = visit.box.model.timers.timers
    waiting = [timer for timer in timers if not timer.ringing]
    sentences = [visit.texts("page-live-timers-ring")] if len(waiting) < len(timers) else []
    if waiting:
        due = day_and_time(min(timer.due_s for timer in waiting), now_s)
        sentences.append(visit.texts("page-live-timers-set", count=len(waiting), due=due))
    return " ".join(sentences)


def show(visit: Visit) -> Reply:
    """Show the timers, the next one first."""
    return visit.page("timers", rows=rows(visit.box.model.timers.timers, time.time()))


def cancel(visit: Visit) -> Reply:
    """Cancel a timer."""
    number = visit.form.get("number", "")
    known = {str(timer.number): timer.number for timer in visit.box.model.timers.timers}
    if number in known and not visit.box.send(CancelTimer(known[number])):
        return plain(503, "The box takes no commands at the moment. Try again.")
    if not (number.isascii() and number.isdecimal()):
        return plain(400, "There is no such timer.")
    return see_other(f"{PLACE}?said=page-notice-cancelled")


def clock_length(seconds: int) -> str:
    """Format a duration as 1:02:03, the same in every language."""
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def day_and_time(since_1970_s: float, now_s: float) -> str:
    """Format a local time; without the date if it is today."""
    when, today = time.localtime(since_1970_s), time.localtime(now_s)
    same = (when.tm_year, when.tm_yday) == (today.tm_year, today.tm_yday)
    return time.strftime("%H:%M" if same else "%Y-%m-%d %H:%M", when)
