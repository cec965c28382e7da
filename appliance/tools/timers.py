"""Timers and alarms: set, cancelled, listed, ringing until they are stopped. No clock, no disk.

A timer uses the boot clock, which never jumps; an alarm uses the wall clock. After a reboot both
use the wall clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.messages.tools import ShownTimer, TimerEvent, TimerNews, TimersList, TimersStatus
from appliance.tools.spoken_time import DAY_S, TOMORROW, ClockReading, parse_time

MOST = 20  # timers and alarms together
LONGEST_S = DAY_S
LATE_S = 60.0  # a timer that is overdue by more is missed and does not ring
SAME_S = 15.0  # an identical timer within this time replaces the first: a repeated question
DRIFT_S = 2.0  # a change between the two clocks by more means that the wall clock was set


@dataclass(frozen=True)
class Timer:
    """One timer, or one alarm.

    length_s    length of a timer; 0.0 for an alarm
    due_boot_s  due time of a timer on the boot clock; None: `due_wall_s` counts
    due_wall_s  due time in seconds since 1970
    set_boot_s  when it was set, on the boot clock; None: before the last reboot
    tomorrow    the alarm was requested for the next calendar day
    """

    number: int
    name: str = ""
    length_s: float = 0.0
    due_boot_s: float | None = None
    due_wall_s: float = 0.0
    set_boot_s: float | None = None
    tomorrow: bool = False

    @property
    def alarm(self) -> bool:
        return not self.length_s

    def left_s(self, now: ClockReading) -> float:
        """Return the seconds until it is due; negative if it is overdue."""
        if self.due_boot_s is not None:
            return self.due_boot_s - now.boot_s
        return self.due_wall_s - now.wall_s


_FILLERS = frozenset("a an the my our for timer timers alarm alarms".split())


def name_words(name: str) -> set[str]:
    """Return the words of a name to compare: the same for "eggs" and "the egg timer"."""
    return {word.removesuffix("s") for word in name.lower().split() if word not in _FILLERS}


def _corrected_due_s(alarm: Timer, asked: ClockReading) -> float:
    """Return an alarm's due time for the corrected time `asked` at which it was requested."""
    local_due = asked.local(alarm.due_wall_s)
    day = TOMORROW if alarm.tomorrow else ""
    due_s = parse_time(f"{day}{local_due.hour}:{local_due.minute:02}", asked)
    return alarm.due_wall_s if due_s is None else due_s


class Timers:
    """All timers and alarms. `news`: events that were not sent yet; `changed`: a save is due."""

    def __init__(self, ring_s: float = 600.0) -> None:
        """`ring_s`: maximum time that a timer rings."""
        self._ring_s = ring_s
        self._wall_offset_s: float | None = None  # wall clock minus boot clock, as of last time
        self._waiting: list[Timer] = []
        self.ringing: tuple[Timer, ...] = ()
        self.missed: tuple[Timer, ...] = ()  # to be announced, then `acknowledge_missed`
        self.news: list[TimerEvent] = []
        self.changed = False

    @property
    def waiting(self) -> tuple[Timer, ...]:
        """Timers that are not due, in the order in which they were set."""
        return tuple(self._waiting)

    @property
    def all(self) -> tuple[Timer, ...]:
        """The timers to save: missed, ringing and waiting ones."""
        return (*self.missed, *self.ringing, *self._waiting)

    @property
    def full(self) -> bool:
        return len(self.all) >= MOST

    def status(self, now: ClockReading) -> TimersStatus:
        due_s = [now.wall_s + timer.left_s(now) for timer in self._waiting]
        alarms = sum(timer.alarm for timer in self._waiting)
        return TimersStatus(
            len(due_s) - alarms, alarms, float(round(min(due_s, default=0.0))), bool(self.ringing)
        )

    def listing(self, now: ClockReading) -> TimersList:
        """Return all waiting and ringing timers, the next due first."""
        shown = [
            ShownTimer(
                timer.number, timer.alarm, timer.name, float(round(now.wall_s + timer.left_s(now))),
                timer.length_s, timer in self.ringing,
            )
            for timer in (*self.ringing, *self._waiting)
        ]  # fmt: skip
        return TimersList(tuple(sorted(shown, key=lambda one: one.due_s)))

    def set_timer(self, length_s: float, name: str, now: ClockReading) -> Timer:
        """Set a timer of `length_s`, 1 s to a day, or restart one that was just set."""
        timer = Timer(
            self._number(),
            name,
            length_s,
            now.boot_s + length_s,
            now.wall_s + length_s,
            now.boot_s,
        )
        for at, other in enumerate(self._waiting):
            same = (other.name, other.length_s) == (name, length_s)
            if same and other.set_boot_s is not None and now.boot_s - other.set_boot_s < SAME_S:
                self._waiting[at] = timer = replace(timer, number=other.number)
                self.changed = True
                return timer
        return self._set(timer)

    def set_alarm(
        self, wall_s: float, name: str, now: ClockReading, *, tomorrow: bool = False
    ) -> Timer:
        """Set an alarm; an identical one is not set twice. `tomorrow`: the request said so."""
        for other in self._waiting:
            if other.alarm and (other.due_wall_s, other.name) == (wall_s, name):
                return other
        alarm = Timer(self._number(), name, due_wall_s=wall_s, set_boot_s=now.boot_s)
        return self._set(replace(alarm, tomorrow=tomorrow))

    def _set(self, timer: Timer) -> Timer:
        self._waiting.append(timer)
        self._record_event("set", timer)
        return timer

    def find(self, name: str) -> Timer | None:
        """Return the newest waiting timer of that name, or of any name if `name` is "" or has
        nothing but words such as "the timer"."""
        key = name_words(name)
        matching = [timer for timer in self._waiting if not key or name_words(timer.name) == key]
        return matching[-1] if matching else None

    def cancel(self, timer: Timer) -> None:
        self._waiting.remove(timer)
        self._record_event("cancelled", timer)

    def cancel_number(self, number: int) -> None:
        """Cancel the waiting timer with that number, if there is one."""
        for timer in [timer for timer in self._waiting if timer.number == number]:
            self.cancel(timer)

    def stop_ringing(self) -> None:
        """Stop all ringing timers."""
        for timer in self.ringing:
            self._record_event("stopped", timer)
        self.ringing = ()

    def acknowledge_missed(self) -> None:
        """Clear the missed timers once they are announced."""
        self.changed = self.changed or bool(self.missed)
        self.missed = ()

    def advance(self, now: ClockReading) -> None:
        """Start to ring due timers or mark them as missed; also mark as missed those that have
        rung for too long."""
        self._follow_wall_clock(now)
        for timer in [timer for timer in self._waiting if timer.left_s(now) <= 0.0]:
            self._waiting.remove(timer)
            if -timer.left_s(now) <= LATE_S:
                self.ringing = (*self.ringing, timer)
                self._record_event("rings", timer)
            else:
                self.missed = (*self.missed, timer)
                self._record_event("missed", timer)
        for timer in [timer for timer in self.ringing if -timer.left_s(now) > self._ring_s]:
            self.ringing = tuple(other for other in self.ringing if other != timer)
            self._record_event("missed", timer)

    def _follow_wall_clock(self, now: ClockReading) -> None:
        """Adapt due times after the wall clock was set. A timer's saved wall-clock time must stay
        correct, and an alarm means the correct local time even if the wall clock was wrong when
        it was set."""
        offset_s, previous_s = now.wall_s - now.boot_s, self._wall_offset_s
        self._wall_offset_s = offset_s
        clock_was_set = previous_s is not None and abs(offset_s - previous_s) > DRIFT_S
        for at, timer in enumerate(self._waiting):
            due_s = timer.due_wall_s
            if timer.due_boot_s is not None:
                due_s = now.wall_s + timer.left_s(now)
            elif clock_was_set and timer.set_boot_s is not None:
                asked = ClockReading(timer.set_boot_s, timer.set_boot_s + offset_s, now.zone)
                due_s = _corrected_due_s(timer, asked)
            if abs(due_s - timer.due_wall_s) > DRIFT_S:
                self._waiting[at] = replace(timer, due_wall_s=due_s)
                self.changed = True

    def restore(self, timers: tuple[Timer, ...], *, same_boot: bool) -> None:
        """Add saved timers. `same_boot`: the machine was not rebooted since they were saved."""
        known = {timer.number for timer in self.all}
        for timer in timers[:MOST]:
            if timer.number not in known and not self.full:
                if not same_boot:
                    timer = replace(timer, due_boot_s=None, set_boot_s=None)
                self._waiting.append(timer)

    def _number(self) -> int:
        return max((timer.number for timer in self.all), default=0) + 1

    def _record_event(self, kind: TimerNews, timer: Timer) -> None:
        self.changed = True
        self.news.append(TimerEvent(kind, timer.number, timer.alarm, timer.name, timer.length_s))
