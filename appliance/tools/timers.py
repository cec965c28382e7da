"""Timers and alarms: set, cancelled, listed, ringing until they are stopped. No clock, no disk.

A timer goes by the clock that never jumps, an alarm by the one on the wall. After the machine was
started anew only the wall's clock is left for both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.messages.tools import ShownTimer, TimerEvent, TimerNews, TimersList, TimersStatus
from appliance.tools.spoken_time import DAY_S, TOMORROW, ClockReading, parse_time

MOST = 20  # timers and alarms together
LONGEST_S = DAY_S
LATE_S = 60.0  # one that is due since longer was missed: nobody can use its ringing any more
SAME_S = 15.0  # the same timer twice within so long is one: the question was asked anew
DRIFT_S = 2.0  # the wall's clock was set anew if it parts from the other by so much


@dataclass(frozen=True)
class Timer:
    """One timer, or one alarm.

    length_s    of a timer; 0.0 for an alarm
    due_boot_s  of a timer of this start of the machine, by its clock; None: `due_wall_s` counts
    due_wall_s  since 1970
    set_boot_s  when it was set, by the machine's clock; None: before the machine was started anew
    tomorrow    an alarm was asked for on the next day of the calendar
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
        """Below 0: it is due for so long."""
        if self.due_boot_s is not None:
            return self.due_boot_s - now.boot_s
        return self.due_wall_s - now.wall_s


_FILLERS = frozenset("a an the my our for timer timers alarm alarms".split())


def meant(name: str) -> set[str]:
    """The same of "eggs" and "the egg timer"."""
    return {word.removesuffix("s") for word in name.lower().split() if word not in _FILLERS}


def _aimed_anew(alarm: Timer, asked: ClockReading) -> float:
    """When an alarm rings that was asked for at the moment `asked`, as is known only now."""
    meant_for = asked.local(alarm.due_wall_s)
    day = TOMORROW if alarm.tomorrow else ""
    due_s = parse_time(f"{day}{meant_for.hour}:{meant_for.minute:02}", asked)
    return alarm.due_wall_s if due_s is None else due_s


class Timers:
    """`news` collects what has happened, until it is taken; `changed`: it is to be written down."""

    def __init__(self, ring_s: float = 600.0) -> None:
        """`ring_s`: so long something rings if nobody stops it."""
        self._ring_s = ring_s
        self._ahead_s: float | None = None  # of the wall's clock before the machine's, seen last
        self._waiting: list[Timer] = []
        self.ringing: tuple[Timer, ...] = ()
        self.missed: tuple[Timer, ...] = ()  # to be told, then taken away by `acknowledge_missed`
        self.news: list[TimerEvent] = []
        self.changed = False

    @property
    def waiting(self) -> tuple[Timer, ...]:
        """In the order in which they were set."""
        return tuple(self._waiting)

    @property
    def all(self) -> tuple[Timer, ...]:
        """What must not be lost."""
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
        """All that waits and all that rings, the next first."""
        shown = [
            ShownTimer(
                timer.number, timer.alarm, timer.name, float(round(now.wall_s + timer.left_s(now))),
                timer.length_s, timer in self.ringing,
            )
            for timer in (*self.ringing, *self._waiting)
        ]  # fmt: skip
        return TimersList(tuple(sorted(shown, key=lambda one: one.due_s)))

    def set_timer(self, length_s: float, name: str, now: ClockReading) -> Timer:
        """A timer of `length_s`, 1 s to a day."""
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
        """An alarm. The same twice is one. `tomorrow`: that word was in what was asked."""
        for other in self._waiting:
            if other.alarm and (other.due_wall_s, other.name) == (wall_s, name):
                return other
        alarm = Timer(self._number(), name, due_wall_s=wall_s, set_boot_s=now.boot_s)
        return self._set(replace(alarm, tomorrow=tomorrow))

    def _set(self, timer: Timer) -> Timer:
        self._waiting.append(timer)
        self._happened("set", timer)
        return timer

    def find(self, name: str) -> Timer | None:
        """The newest of that name; of any, if it is "", or no more than "the timer"."""
        wish = meant(name)
        wanted = [timer for timer in self._waiting if not wish or meant(timer.name) == wish]
        return wanted[-1] if wanted else None

    def cancel(self, timer: Timer) -> None:
        self._waiting.remove(timer)
        self._happened("cancelled", timer)

    def cancel_number(self, number: int) -> None:
        """The one that waits under that number; nothing where none does."""
        for timer in [timer for timer in self._waiting if timer.number == number]:
            self.cancel(timer)

    def stop_ringing(self) -> None:
        """What rings has been heard."""
        for timer in self.ringing:
            self._happened("stopped", timer)
        self.ringing = ()

    def acknowledge_missed(self) -> None:
        """The owner knows what was missed."""
        self.changed = self.changed or bool(self.missed)
        self.missed = ()

    def advance(self, now: ClockReading) -> None:
        """What is due begins to ring, or was missed; what rings for too long is given up."""
        self._follow_the_wall(now)
        for timer in [timer for timer in self._waiting if timer.left_s(now) <= 0.0]:
            self._waiting.remove(timer)
            if -timer.left_s(now) <= LATE_S:
                self.ringing = (*self.ringing, timer)
                self._happened("rings", timer)
            else:
                self.missed = (*self.missed, timer)
                self._happened("missed", timer)
        for timer in [timer for timer in self.ringing if -timer.left_s(now) > self._ring_s]:
            self.ringing = tuple(other for other in self.ringing if other != timer)
            self._happened("missed", timer)

    def _follow_the_wall(self, now: ClockReading) -> None:
        """What is written down of a timer must be right by the wall's clock, too; and an alarm was
        meant by the right clock, as its owner has one, however wrong the machine's was then."""
        ahead_s, was_s = now.wall_s - now.boot_s, self._ahead_s
        self._ahead_s = ahead_s
        was_set = was_s is not None and abs(ahead_s - was_s) > DRIFT_S
        for at, timer in enumerate(self._waiting):
            due_s = timer.due_wall_s
            if timer.due_boot_s is not None:
                due_s = now.wall_s + timer.left_s(now)
            elif was_set and timer.set_boot_s is not None:
                asked = ClockReading(timer.set_boot_s, timer.set_boot_s + ahead_s, now.zone)
                due_s = _aimed_anew(timer, asked)
            if abs(due_s - timer.due_wall_s) > DRIFT_S:
                self._waiting[at] = replace(timer, due_wall_s=due_s)
                self.changed = True

    def restore(self, timers: tuple[Timer, ...], *, same_boot: bool) -> None:
        """Those that were written down. `same_boot`: the machine has not been started since."""
        known = {timer.number for timer in self.all}
        for timer in timers[:MOST]:
            if timer.number not in known and not self.full:
                if not same_boot:
                    timer = replace(timer, due_boot_s=None, set_boot_s=None)
                self._waiting.append(timer)

    def _number(self) -> int:
        return max((timer.number for timer in self.all), default=0) + 1

    def _happened(self, kind: TimerNews, timer: Timer) -> None:
        self.changed = True
        self.news.append(TimerEvent(kind, timer.number, timer.alarm, timer.name, timer.length_s))
