"""Timers and alarms, with both clocks in the test's hands."""

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
    """`seconds` after the start; the wall's clock may have been set meanwhile."""
    return ClockReading(
        START.boot_s + seconds, START.wall_s + (seconds if wall_s is None else wall_s)
    )


def kinds(timers: Timers) -> list[str]:
    """What has happened since the last look at it."""
    found: list[str] = [news.kind for news in timers.news]
    timers.news.clear()
    return found


def test_a_timer_rings_when_its_time_has_come_and_not_before() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    timers.advance(later(299.9))
    assert not timers.ringing
    timers.advance(later(300.0))
    assert [timer.name for timer in timers.ringing] == ["eggs"]
    assert kinds(timers) == ["set", "rings"]
    timers.advance(later(301.0))
    assert kinds(timers) == []


def test_several_run_beside_each_other() -> None:
    timers = Timers()
    for length_s, name in ((300.0, "eggs"), (60.0, "tea"), (600.0, "")):
        timers.set_timer(length_s, name, START)
    timers.advance(later(61.0))
    assert [timer.name for timer in timers.ringing] == ["tea"]
    timers.advance(later(301.0))
    assert [timer.name for timer in timers.ringing] == ["tea", "eggs"]
    assert [timer.length_s for timer in timers.waiting] == [600.0]


def test_it_rings_until_it_is_stopped() -> None:
    timers = Timers(ring_s=600.0)
    timers.set_timer(60.0, "", START)
    timers.advance(later(60.0))
    timers.advance(later(500.0))
    assert timers.ringing
    timers.stop_ringing()
    assert not timers.ringing
    assert kinds(timers) == ["set", "rings", "stopped"]


def test_it_gives_up_when_nobody_is_there() -> None:
    timers = Timers(ring_s=600.0)
    timers.set_timer(60.0, "", START)
    timers.advance(later(60.0))
    timers.advance(later(661.0))
    assert timers.all == ()
    assert kinds(timers) == ["set", "rings", "missed"]


@pytest.mark.parametrize("jump_s", [-86_400.0, -60.0, 60.0, 86_400.0])
def test_a_timer_does_not_care_how_the_clock_is_set(jump_s: float) -> None:
    timers = Timers()
    timer = timers.set_timer(300.0, "", START)
    timers.advance(later(100.0, wall_s=100.0 + jump_s))
    assert timers.waiting
    assert timer.left_s(later(100.0, wall_s=jump_s)) == 200.0
    timers.advance(later(300.0, wall_s=300.0 + jump_s))
    assert timers.ringing


def test_an_alarm_follows_the_clock_on_the_wall() -> None:
    timers = Timers()
    timers.set_alarm(START.wall_s + 3600.0, "", START)
    timers.advance(later(3600.0, wall_s=1800.0))  # set back by half an hour
    assert timers.waiting
    timers.advance(later(3700.0, wall_s=3600.0))
    assert timers.ringing


def test_an_alarm_asked_for_while_the_clock_was_wrong_rings_when_its_owner_meant() -> None:
    """A machine without a battery begins in the past, and asks the network what time it is."""
    timers = Timers()
    zone = ZoneInfo("Europe/Berlin")
    wrong = ClockReading(10.0, datetime(2024, 1, 1, 3, 0, tzinfo=zone).timestamp(), zone)
    timers.advance(wrong)
    timers.set_alarm(datetime(2024, 1, 1, 7, 0, tzinfo=zone).timestamp(), "", wrong)
    right = datetime(2026, 11, 21, 22, 5, tzinfo=zone)  # five minutes later: it is evening
    timers.advance(ClockReading(310.0, right.timestamp(), zone))
    assert not timers.missed
    (alarm,) = timers.waiting
    assert datetime.fromtimestamp(alarm.due_wall_s, zone).strftime("%d %H:%M") == "22 07:00"


@pytest.mark.parametrize("set_s", [5.0, 2 * 365 * 86_400.0])
def test_an_alarm_for_tomorrow_stays_one_where_the_clock_is_set(set_s: float) -> None:
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


def test_an_alarm_whose_time_passed_while_the_clock_was_wrong_was_missed() -> None:
    timers = Timers()
    timers.advance(START)
    timers.set_alarm(START.wall_s + 6 * 3600.0, "pills", START)  # five hours from then, in truth
    timers.advance(later(5 * 3600.0 + 120.0, wall_s=6 * 3600.0 + 120.0))
    assert not timers.ringing
    assert [timer.name for timer in timers.missed] == ["pills"]


def test_an_alarm_of_before_that_a_jump_of_the_clock_went_over_was_missed() -> None:
    timers = Timers()
    timers.restore((Timer(1, "pills", due_wall_s=START.wall_s + 3600.0),), same_boot=False)
    timers.advance(START)
    timers.advance(later(10.0, wall_s=3600.0 + LATE_S + 1))
    assert not timers.ringing
    assert [timer.name for timer in timers.missed] == ["pills"]
    assert timers.all, "it must not be lost before it was told"
    timers.acknowledge_missed()
    assert timers.all == ()


def test_the_same_timer_asked_for_at_once_again_is_one() -> None:
    timers = Timers()
    timers.set_timer(300.0, "", START)
    timers.set_timer(300.0, "", later(5.0))
    (timer,) = timers.waiting
    assert timer.left_s(later(5.0)) == 300.0
    timers.set_timer(300.0, "", later(100.0))
    timers.set_timer(300.0, "eggs", later(100.0))
    assert len(timers.waiting) == 3


def test_the_newest_is_found_or_the_one_of_that_name() -> None:
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
def test_a_name_is_known_by_what_is_meant(name: str) -> None:
    timers = Timers()
    eggs = timers.set_timer(300.0, "eggs", START)
    timers.set_timer(300.0, "tea", START)
    assert timers.find(name) == eggs


@pytest.mark.parametrize("name", ["bread", "egg bread", "s s"])
def test_another_name_is_another_timer(name: str) -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    timers.set_timer(300.0, "", START)
    assert timers.find(name) is None


# ── restarts ─────────────────────────────────────────────────────────────────────────────────
def restarted(timers: Timers, now: ClockReading, *, same_boot: bool) -> Timers:
    again = Timers()
    again.restore(timers.all, same_boot=same_boot)
    again.advance(now)
    return again


def test_a_restart_of_the_box_changes_nothing() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    again = restarted(timers, later(100.0, wall_s=5000.0), same_boot=True)
    assert [timer.left_s(later(100.0)) for timer in again.waiting] == [200.0]


def test_after_a_restart_of_the_machine_the_walls_clock_counts() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    now = ClockReading(5.0, START.wall_s + 100.0)
    again = restarted(timers, now, same_boot=False)
    assert [timer.left_s(now) for timer in again.waiting] == [200.0]


def test_what_is_written_down_is_right_by_a_clock_that_was_set_meanwhile() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    timers.changed = False
    timers.advance(later(100.0, wall_s=50_100.0))
    assert timers.changed
    now = ClockReading(5.0, START.wall_s + 50_200.0)  # 100 s later
    again = restarted(timers, now, same_boot=False)
    assert [timer.left_s(now) for timer in again.waiting] == [100.0]


def test_what_ran_out_while_the_box_was_off_was_missed_and_does_not_ring() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    again = restarted(timers, ClockReading(5.0, START.wall_s + 4000.0), same_boot=False)
    assert not again.ringing
    assert len(again.missed) == 1


def test_one_that_rang_a_moment_ago_rings_on_after_a_restart() -> None:
    timers = Timers()
    timers.set_timer(300.0, "eggs", START)
    timers.advance(later(300.0))
    again = restarted(timers, later(310.0), same_boot=True)
    assert len(again.ringing) == 1


def test_no_more_are_restored_than_there_may_be() -> None:
    many = tuple(Timer(n, "", 300.0, None, START.wall_s + 300.0) for n in range(100))
    timers = Timers()
    timers.restore(many, same_boot=False)
    assert len(timers.all) == MOST
    assert timers.full


# ── whatever happens ─────────────────────────────────────────────────────────────────────────
steps = st.lists(
    st.tuples(
        st.sampled_from(["start", "wake", "cancel", "hush", "told", "restart", "boot", "look"]),
        st.integers(1, 400),
        st.integers(-3000, 3000),
    ),
    max_size=30,
)


@given(steps)
def test_whatever_happens_nothing_rings_early_and_nothing_vanishes(
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
        stand = timers.status(now)
        assert stand.timers + stand.alarms == len(timers.waiting)
        assert (stand.ringing, stand.next_at_s > 0) == (
            bool(timers.ringing),
            bool(timers.waiting),
        )


def test_numbers_are_not_given_twice_while_they_are_in_use() -> None:
    timers = Timers()
    first = timers.set_timer(60.0, "a", START)
    second = timers.set_timer(60.0, "b", START)
    timers.cancel(first)
    third = timers.set_timer(60.0, "c", START)
    assert third.number != second.number
