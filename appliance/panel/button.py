"""Turns the levels of one button, with their times, into gestures. Pure: no GPIO, no clock."""

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
    "cancelled",
]
# Gestures of a button that is held down at power-on.
FROM_START: tuple[Gesture, ...] = (
    "setup_warning", "setup", "reset_warning", "reset_armed", "reset", "cancelled",
)  # fmt: skip
Fault = Literal["", "bouncing", "stuck"]

DEBOUNCE_S = 0.02  # contacts of common push buttons bounce for 1 to 10 ms; twice that
DOUBLE_S = 0.35  # maximum time from a release to the second press of a double press
LONG_S = 1.5
STUCK_S = 60.0  # longer than any question: a turn is limited to 30 s
BOUNCING_EDGES = 40  # per second; fast pressing makes 16, with the bounce of each press
SETUP_S = 5.0  # held since power-on, then released
RESET_S = 15.0  # held since power-on, released, then pressed once more
GIVE_UP_S = 30.0  # held since power-on for this long, the button is stuck and has no effect
WARNING_S = 3.0  # how long before SETUP_S and RESET_S the light warns
CONFIRM_S = 10.0  # time after the release in which a press confirms the reset
PAUSE_S = 0.5  # minimum delay before the confirming press, so that a loose contact does not confirm


@dataclass
class Button:
    """One button. A press counts at its first edge, without delay; later edges are debounced.

    `edge` takes a level, `tick` only the time; both return the gestures that are due, in order.
    "press" and "release" come at once, for talking and for silencing. "short", "double" and "long"
    classify the press; "short" comes only once no second press can follow. A button held since
    power-on gives none of these: it gives warnings, and "setup" when it is released; held for
    longer, it gives "reset_armed", and a press after its release gives "reset". "cancelled" ends
    a warning without effect. A stuck or bouncing button gives nothing until it has been up for a
    second; if a press was open, its "release" comes first, so that the press does not stay open.
    """

    power_on: bool = False  # False: the process was restarted after power-on
    fault: Fault = ""

    def __post_init__(self) -> None:
        self._down = False
        self._raw = False
        self._raw_since = 0.0
        self._changed_at = float("-inf")
        self._down_since = 0.0
        self._long_reported = False
        self._waits_for_second = False
        self._is_second = False
        self._since_power_on = False
        self._first = True
        self._stage = 0  # how many of _STAGES were returned
        self._armed_at: float | None = None  # released when armed; a press within CONFIRM_S resets
        self._edges: deque[float] = deque(maxlen=BOUNCING_EDGES)

    @property
    def busy(self) -> bool:
        """Whether `tick` may still return a gesture."""
        waits = self._waits_for_second or self._armed_at is not None
        return self._down or self._raw or waits or bool(self.fault)

    def edge(self, down: bool, now: float) -> list[Gesture]:
        gestures = self.tick(now)
        if self._first:
            self._first = False
            if down:  # the button was down before the first reading: not a press
                self._raw, self._raw_since, self._down, self._down_since = True, now, True, now
                self._since_power_on, self._changed_at = True, now
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
        held_s = now - self._down_since
        if self._since_power_on and self.power_on:
            while self._stage < len(_STAGES) and held_s >= _STAGES[self._stage][0]:
                gestures.append(_STAGES[self._stage][1])
                self._stage += 1
        elif not self._since_power_on and held_s >= LONG_S and not self._long_reported:
            self._long_reported = True
            gestures.append("long")
        if held_s >= STUCK_S:
            gestures += self._fail("stuck")
        return gestures

    def _settle(self, now: float) -> list[Gesture]:
        """Accept the line's level, unless the last accepted change is too recent (DEBOUNCE_S)."""
        if self.fault or self._raw == self._down or now - self._changed_at < DEBOUNCE_S:
            return []
        self._down, self._changed_at = self._raw, now
        return self._pressed(now) if self._down else self._released(now)

    def _pressed(self, now: float) -> list[Gesture]:
        self._down_since, self._long_reported = now, False
        if self._armed_at is not None:
            confirmed = now - self._armed_at >= PAUSE_S
            self._since_power_on, self.power_on = True, False  # its release has no effect
            return ["reset", *self._disarm()] if confirmed else self._disarm()
        self._is_second, self._waits_for_second = self._waits_for_second, False
        return ["press"]

    def _released(self, now: float) -> list[Gesture]:
        if self._since_power_on:
            self._since_power_on = False
            return self._released_after_power_on(now)
        if self._long_reported:
            return ["release"]
        if self._is_second:
            return ["release", "double"]
        self._waits_for_second = True
        return ["release"]

    def _released_after_power_on(self, now: float) -> list[Gesture]:
        held_s = now - self._down_since
        if not self.power_on:
            return []
        if SETUP_S <= held_s < RESET_S - WARNING_S:
            return ["setup"]
        if RESET_S <= held_s < GIVE_UP_S:
            self._armed_at = now
            return []
        return ["cancelled"] if self._stage else []

    def _disarm(self) -> list[Gesture]:
        self._armed_at = None
        return ["cancelled"]

    def _fail(self, fault: Fault) -> list[Gesture]:
        self.fault = fault
        was_open = self._down and not self._since_power_on
        warned = self._armed_at is not None or (self._since_power_on and self._stage > 0)
        self._armed_at = None
        self._down = self._since_power_on = self._waits_for_second = self._is_second = False
        if was_open:
            return ["release"]
        return ["cancelled"] if warned else []


_STAGES: tuple[tuple[float, Gesture], ...] = (
    (SETUP_S - WARNING_S, "setup_warning"),
    (RESET_S - WARNING_S, "reset_warning"),
    (RESET_S, "reset_armed"),
    (GIVE_UP_S, "cancelled"),
)
