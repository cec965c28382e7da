"""Timers and alarms that ring until they are stopped: their sentences, and when they sound next."""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.dialog.policy import NEVER


@dataclass(frozen=True)
class RingSchedule:
    """What rings, and when it sounds next.

    lines  a sentence each; (): nothing rings
    began  all of them have begun to sound
    heard  all of them have sounded to their end
    at_s   when they sound next, if the box is at rest
    """

    lines: tuple[str, ...] = ()
    began: bool = False
    heard: bool = False
    at_s: float = NEVER

    @property
    def rings(self) -> bool:
        return self.lines != ()

    @property
    def consistent(self) -> bool:
        """If nothing rings, every field has its default value."""
        return self.rings or self == RingSchedule()

    def lacks(self, lines: tuple[str, ...]) -> bool:
        """Whether any of `lines` does not ring yet."""
        return not set(lines) <= set(self.lines)

    def set_lines(self, lines: tuple[str, ...], at_s: float) -> RingSchedule:
        """Set what rings. A line that did not ring before restarts the schedule at `at_s`."""
        if not lines:
            return RingSchedule()
        return RingSchedule(lines, at_s=at_s) if self.lacks(lines) else replace(self, lines=lines)

    def begin(self) -> RingSchedule:
        """Note that all lines have begun to sound."""
        return replace(self, began=True)

    def finish(self, spoken: tuple[str, ...]) -> RingSchedule:
        """An announcement of the lines `spoken` has sounded to its end."""
        return replace(self, heard=True) if self.lines and spoken == self.lines else self

    def put_off(self, at_s: float) -> RingSchedule:
        """Set when the lines sound next."""
        return replace(self, at_s=at_s) if self.lines else self

    def stop(self) -> RingSchedule:
        """Nothing rings any more."""
        return RingSchedule()
