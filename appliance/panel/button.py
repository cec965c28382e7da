"""Levels of one button with their times in → gestures out. Pure: no GPIO, no clock."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

Gesture = Literal[
    "press",
    "release",
    "short",
    "double",
    "long",
    "setup_warning",
    "setup",
    "reset_warning",
    "reset_armed",
    "reset",
    "let_be",
]
# Of a button that was held when the power came.
FROM_START: tuple[Gesture, ...] = (
    "setup_warning", "setup", "reset_warning", "reset_armed", "reset", "let_be",
)  # fmt: skip
Fault = Literal["", "bouncing", "stuck"]

DEBOUNCE_S = 0.02  # contacts of common push buttons bounce for 1 to 10 ms; twice that
DOUBLE_S = 0.35  # from a release to the next press of a double
LONG_S = 1.5
STUCK_S = 60.0  # nobody holds a question so long: a turn is 30 s at most
BOUNCING_EDGES = 40  # a second; a hurried finger makes 16, bounce of each press included
SETUP_S = 5.0  # held since power-on, then let go
RESET_S = 15.0  # likewise, and then pressed once more
GIVE_UP_S = 30.0  # held since power-on for so long it is stuck, and nothing comes of it
WARNING_S = 3.0  # how long the light warns before either
CONFIRM_S = 10.0  # from letting go to the press that makes it so
PAUSE_S = 0.5  # but not sooner: a loose contact is no finger


@dataclass
class Button:
    """A press counts at its first edge, since it may be a reflex; what follows is debounced.

    `edge` takes a level, `tick` only the time; both return the gestures that are due, in order.
    "press" and "release" come at once, for talking and for silence. "short", "double" and "long"
    say what the press was, "short" only once no second press can follow. A button held since
    power-on gives none of these, only warnings and then, once it is let go, "setup"; held for
    longer, "reset_armed", and a press after it was let go is the "reset". "let_be" ends a warning
    of which nothing came. One that is stuck or bouncing gives nothing until it has been up for a
    second; if a press was open, its "release" is given first, so that nothing hangs.
    """

    power_on: bool = False  # False: the process starts anew in a box that has long been on
    fault: Fault = ""

    def __post_init__(self) -> None:
        self._down = False
        self._raw = False
        self._raw_since = 0.0
        self._changed_at = float("-inf")
        self._since = 0.0
        self._told_long = False
        self._waits_for_second = False
        self._second = False
        self._from_start = False
        self._first = True
        self._stage = 0  # of _STAGES, as far as they were told
        self._armed_at: float | None = None  # let go when armed; a press within CONFIRM_S resets
        self._edges: deque[float] = deque(maxlen=BOUNCING_EDGES)

    @property
    def busy(self) -> bool:
        """Whether `tick` may yet have something to say."""
        waits = self._waits_for_second or self._armed_at is not None
        return self._down or self._raw or waits or bool(self.fault)

    def edge(self, down: bool, now: float) -> list[Gesture]:
        gestures = self.tick(now)
        if self._first:
            self._first = False
            if down:  # held before we looked: never a press
                self._raw, self._raw_since, self._down, self._since = True, now, True, now
                self._from_start, self._changed_at = True, now
                return gestures
        if down == self._raw:
            return gestures
        self._raw, self._raw_since = down, now
        self._edges.append(now)
        if len(self._edges) == BOUNCING_EDGES and now - self._edges[0] < 1.0 and not self.fault:
            return gestures + self._fail("bouncing")
        return gestures + self._settle(now)

    def tick(self, now: float) -> list[Gesture]:
        if self.fault:
            if not self._raw and now - self._raw_since >= 1.0:
                self.fault = ""
                self._edges.clear()
            return []
        gestures = self._settle(now)
        if not self._down:
            if self._waits_for_second and now - self._changed_at >= DOUBLE_S:
                self._waits_for_second = False
                gestures.append("short")
            if self._armed_at is not None and now - self._armed_at >= CONFIRM_S:
                gestures += self._disarm()
            return gestures
        held_s = now - self._since
        if self._from_start and self.power_on:
            while self._stage < len(_STAGES) and held_s >= _STAGES[self._stage][0]:
                gestures.append(_STAGES[self._stage][1])
                self._stage += 1
        elif not self._from_start and held_s >= LONG_S and not self._told_long:
            self._told_long = True
            gestures.append("long")
        if held_s >= STUCK_S:
            gestures += self._fail("stuck")
        return gestures

    def _settle(self, now: float) -> list[Gesture]:
        """Take over the wire's level, unless the last change is too fresh to believe another."""
        if self.fault or self._raw == self._down or now - self._changed_at < DEBOUNCE_S:
            return []
        self._down, self._changed_at = self._raw, now
        return self._pressed(now) if self._down else self._released(now)

    def _pressed(self, now: float) -> list[Gesture]:
        self._since, self._told_long = now, False
        if self._armed_at is not None:
            sure = now - self._armed_at >= PAUSE_S
            self._from_start, self.power_on = True, False  # its release means nothing
            return ["reset", *self._disarm()] if sure else self._disarm()
        self._second, self._waits_for_second = self._waits_for_second, False
        return ["press"]

    def _released(self, now: float) -> list[Gesture]:
        if self._from_start:
            self._from_start = False
            return self._let_go_from_start(now)
        if self._told_long:
            return ["release"]
        if self._second:
            return ["release", "double"]
        self._waits_for_second = True
        return ["release"]

    def _let_go_from_start(self, now: float) -> list[Gesture]:
        held_s = now - self._since
        if not self.power_on:
            return []
        if SETUP_S <= held_s < RESET_S - WARNING_S:
            return ["setup"]
        if RESET_S <= held_s < GIVE_UP_S:
            self._armed_at = now
            return []
        return ["let_be"] if self._stage else []

    def _disarm(self) -> list[Gesture]:
        self._armed_at = None
        return ["let_be"]

    def _fail(self, fault: Fault) -> list[Gesture]:
        self.fault = fault
        was_open = self._down and not self._from_start
        warned = self._armed_at is not None or (self._from_start and self._stage > 0)
        self._armed_at = None
        self._down = self._from_start = self._waits_for_second = self._second = False
        if was_open:
            return ["release"]
        return ["let_be"] if warned else []


_STAGES: tuple[tuple[float, Gesture], ...] = (
    (SETUP_S - WARNING_S, "setup_warning"),
    (RESET_S - WARNING_S, "reset_warning"),
    (RESET_S, "reset_armed"),
    (GIVE_UP_S, "let_be"),
)
