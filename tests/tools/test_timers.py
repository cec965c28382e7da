"""Timers and alarms, with both clocks simulated."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.tools.spoken_time import ClockReading
from appliance.tools.timers import LATE_S, MOST, Timer, Timers

START = ClockReading(1000.0, 1_800_000_000.0)


def later(seconds: float, *, wall_s: float | None = None) -> ClockReading:
    """`seconds` after the start; `wall_s` if the wall clock was set meanwhile."""
    return ClockReading(
        START.boot_s + seconds, START.wall_s + (seconds if wall_s is None else wall_s)
    )


def kinds(timers: Timers) -> list[str]:
    """The kinds of news since the last call."""
    found: list[str] = [news.kind for news in timers.news]
    timers.news.clear()
    return found


def test_a_timer_rings_when_it_is_due_and_not_before() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    timers.advance(later(299.9))
    assert not timers.ringing
    timers.advance(later(300.0))
    assert [timer.name for timer in timers.ringing] == ["eggs"]
    assert kinds(timers) == ["set", "rings"]
    timers.advance(later(301.0))
    assert kinds(timers) == []


def test_several_timers_run_at_once() -> None:
    timers = Timers()
    for length_s, name in ((300.0, "eggs"), (60.0, "tea"), (600.0, "")):
        timers.set_timer(length_s, name, START)
    timers.advance(later(61.0))
    assert [timer.name for timer in timers.ringing] == ["tea"]
    timers.advance(later(301.0))
    assert [timer.name for timer in timers.ringing] == ["tea", "eggs"]
    assert [timer.length_s for timer in timers.waiting] == [600.0]


def test_a_timer_rings_until_it_is_stopped() -> None:
    timers = Timers(ring_s=600.0)
    timers.set_timer(60.0, "", START)
    timers.advance(later(60.0))
    timers.advance(later(500.0))
    assert timers.ringing
    timers.stop_ringing()
    assert not timers.ringing
    assert kinds(timers) == ["set", "rings", "stopped"]


def test_a_timer_that_is_not_stopped_ends_as_missed() -> None:
    timers = Timers(ring_s=600.0)
    timers.set_timer(60.0, "", START)
    timers.advance(later(60.0))
    timers.advance(later(661.0))
    assert timers.all == ()
    assert kinds(timers) == ["set", "rings", "missed"]


@pytest.mark.parametrize("jump_s", [-86_400.0, -60.0, 60.0, 86_400.0])
def test_setting_the_clock_does_not_affect_a_timer(jump_s: float) -> None:
    timers = Timers()
    timer = timers.set_timer(300.0, "", START)
    timers.advance(later(100.0, wall_s=100.0 + jump_s))
    assert timers.waiting
    assert timer.left_s(later(100.0, wall_s=jump_s)) == 200.0
    timers.advance(later(300.0, wall_s=300.0 + jump_s))
    assert timers.ringing


def test_an_alarm_follows_the_wall_clock() -> None:
    timers = Timers()
    timers.set_alarm(START.wall_s + 3600.0, "", START)
    timers.advance(later(3600.0, wall_s=1800.0))  # set back by half an hour
    assert timers.waiting
    timers.advance(later(3700.0, wall_s=3600.0))
    assert timers.ringing


def test_an_alarm_set_while_the_clock_was_wrong_is_moved_to_the_right_time() -> None:
    """A machine without a battery boots with a past time and gets the right one over NTP."""
    timers = Timers()
    zone = ZoneInfo("Europe/Berlin")
    wrong = ClockReading(10.0, datetime(2024, 1, 1, 3, 0, tzinfo=zone).timestamp(), zone)
    timers.advance(wrong)
    timers.set_alarm(datetime(2024, 1, 1, 7, 0, tzinfo=zone).timestamp(), "", wrong)
    right = datetime(2026, 11, 21, 22, 5, tzinfo=zone)  # five minutes later, in the evening
    timers.advance(ClockReading(310.0, right.timestamp(), zone))
    assert not timers.missed
    (alarm,) = timers.waiting
    assert datetime.fromtimestamp(alarm.due_wall_s, zone).strftime("%d %H:%M") == "22 07:00"


@pytest.mark.parametrize("set_s", [5.0, 2 * 365 * 86_400.0])
def test_an_alarm_for_tomorrow_stays_on_tomorrow_after_the_clock_is_set(set_s: float) -> None:
    timers, zone = Timers(), ZoneInfo("Europe/Berlin")
    asked = datetime(2024, 1, 1, 10, 0, tzinfo=zone)
    now = ClockReading(10.0, asked.timestamp(), zone)
    timers.advance(now)
    due = asked.replace(day=2, hour=17)
    timers.set_alarm(due.timestamp(), "", now, tomorrow=True)
    timers.advance(ClockReading(310.0, asked.timestamp() + 300.0 + set_s, zone))
    (alarm,) = timers.waiting
    meant = datetime.fromtimestamp(asked.timestamp() + set_s, zone) + timedelta(days=1)
    assert alarm.due_wall_s == meant.replace(hour=17, minute=0, second=0).timestamp()


def test_an_alarm_due_while_the_clock_was_wrong_is_missed() -> None:
    timers = Timers()
    timers.advance(START)
    timers.set_alarm(START.wall_s + 6 * 3600.0, "pills", START)  # in fact five hours later
    timers.advance(later(5 * 3600.0 + 120.0, wall_s=6 * 3600.0 + 120.0))
    assert not timers.ringing
    assert [timer.name for timer in timers.missed] == ["pills"]


def test_a_restored_alarm_that_a_clock_jump_skipped_is_missed() -> None:
    timers = Timers()
    timers.restore((Timer(1, "pills", due_wall_s=START.wall_s + 3600.0),), same_boot=False)
    timers.advance(START)
    timers.advance(later(10.0, wall_s=3600.0 + LATE_S + 1))
    assert not timers.ringing
    assert [timer.name for timer in timers.missed] == ["pills"]
    assert timers.all, "it must not be lost before it was announced"
    timers.acknowledge_missed()
    assert timers.all == ()


def test_the_same_timer_set_twice_within_seconds_is_one_timer() -> None:
    timers = Timers()
    timers.set_timer(300.0, "", START)
    timers.set_timer(300.0, "", later(5.0))
    (timer,) = timers.waiting
    assert timer.left_s(later(5.0)) == 300.0
    timers.set_timer(300.0, "", later(100.0))
    timers.set_timer(300.0, "eggs", later(100.0))
    assert len(timers.waiting) == 3


def test_find_returns_the_newest_timer_or_the_one_with_the_name() -> None:
    timers = Timers()
    eggs, tea = timers.set_timer(300.0, "eggs", START), timers.set_timer(60.0, "tea", START)
    assert timers.find("") == tea
    assert timers.find("eggs") == eggs
    assert timers.find("bread") is None
    assert timers.find("the timer") == tea
    timers.cancel(tea)
    assert timers.find("") == eggs
    assert kinds(timers) == ["set", "set", "cancelled"]


@pytest.mark.parametrize("name", ["egg", "the eggs", "egg timer", "my eggs timer", "Eggs"])
def test_a_similar_name_finds_the_timer(name: str) -> None:
    timers = Timers()
    eggs = timers.set_timer(300.0, "eggs", START)
    timers.set_timer(300.0, "tea", START)
    assert timers.find(name) == eggs


@pytest.mark.parametrize("name", ["bread", "egg bread", "s s"])
def test_a_different_name_finds_no_timer(name: str) -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    timers.set_timer(300.0, "", START)
    assert timers.find(name) is None


# ── restarts ─────────────────────────────────────────────────────────────────────────────────────
def restarted(timers: Timers, now: ClockReading, *, same_boot: bool) -> Timers:
    again = Timers()
    again.restore(timers.all, same_boot=same_boot)
    again.advance(now)
    return again


def test_a_restart_of_the_process_changes_nothing() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    again = restarted(timers, later(100.0, wall_s=5000.0), same_boot=True)
    assert [timer.left_s(later(100.0)) for timer in again.waiting] == [200.0]


def test_after_a_reboot_a_timer_is_due_by_the_wall_clock() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    now = ClockReading(5.0, START.wall_s + 100.0)
    again = restarted(timers, now, same_boot=False)
    assert [timer.left_s(now) for timer in again.waiting] == [200.0]


def test_saved_timers_are_corrected_after_the_clock_was_set() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    timers.changed = False
    timers.advance(later(100.0, wall_s=50_100.0))
    assert timers.changed
    now = ClockReading(5.0, START.wall_s + 50_200.0)  # 100 s later
    again = restarted(timers, now, same_boot=False)
    assert [timer.left_s(now) for timer in again.waiting] == [100.0]


def test_a_timer_that_ended_while_the_box_was_off_is_missed() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    again = restarted(timers, ClockReading(5.0, START.wall_s + 4000.0), same_boot=False)
    assert not again.ringing
    assert len(again.missed) == 1


def test_a_timer_that_was_ringing_rings_again_after_a_restart() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    timers.advance(later(300.0))
    again = restarted(timers, later(310.0), same_boot=True)
    assert len(again.ringing) == 1


def test_at_most_the_maximum_number_of_timers_is_restored() -> None:
    many = tuple(Timer(n, "", 300.0, None, START.wall_s + 300.0) for n in range(100))
    timers = Timers()
    timers.restore(many, same_boot=False)
    assert len(timers.all) == MOST
    assert timers.full


# ── random sequences ─────────────────────────────────────────────────────────────────────────────
steps = st.lists(
    st.tuples(
        st.sampled_from(["start", "wake", "cancel", "hush", "told", "restart", "boot", "look"]),
        st.integers(1, 400),
        st.integers(-3000, 3000),
    ),
    max_size=30,
)


@given(steps)
def test_in_any_sequence_no_timer_rings_early_and_none_is_lost(
    walk: list[tuple[str, int, int]],
) -> None:
    timers, now = Timers(ring_s=600.0), START
    for what, seconds, jump_s in walk:
        now = ClockReading(
            now.boot_s + seconds, now.wall_s + seconds + (jump_s if what == "look" else 0)
        )
        timers.news.clear()
        match what:
            case "start" if not timers.full:
                timers.set_timer(float(seconds), "", now)
            case "wake" if not timers.full:
                timers.set_alarm(now.wall_s + seconds, "", now)
            case "cancel" if (timer := timers.find("")) is not None:
                timers.cancel(timer)
            case "hush":
                timers.stop_ringing()
            case "told":
                timers.acknowledge_missed()
            case "restart" | "boot":
                again = Timers(ring_s=600.0)
                again.restore(timers.all, same_boot=what == "restart")
                timers = again
        before = {timer.number for timer in timers.all}
        rang = timers.ringing
        timers.advance(now)
        assert all(timer.left_s(now) > 0 for timer in timers.waiting)
        assert all(timer.left_s(now) <= 0 for timer in timers.ringing if timer not in rang)
        given_up = {news.number for news in timers.news if news.kind == "missed"}
        assert before - {timer.number for timer in timers.all} <= given_up
        assert len({timer.number for timer in timers.all}) == len(timers.all) <= MOST
        status = timers.status(now)
        assert status.timers + status.alarms == len(timers.waiting)
        assert (status.ringing, status.next_at_s > 0) == (
            bool(timers.ringing),
            bool(timers.waiting),
        )


def test_a_number_in_use_is_not_reused() -> None:
    timers = Timers()
    first = timers.set_timer(60.0, "a", START)
    second = timers.set_timer(60.0, "b", START)
    timers.cancel(first)
    third = timers.set_timer(60.0, "c", START)
    assert third.number != second.number
