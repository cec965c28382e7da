"""The mute switch on the housing: levels with their times in → whether it cuts. Pure."""

from __future__ import annotations

from dataclasses import dataclass

SURE_S = 0.05  # closed for so long before the box listens again; contacts bounce for up to 10 ms


@dataclass
class MuteSwitch:
    """Cuts at the first edge, and until it has surely been closed: a bounce never listens."""

    off: bool = True
    _closed_at: float | None = None

    def level(self, off: bool, now: float) -> bool:
        """Returns whether the microphone is cut."""
        if off:
            self.off, self._closed_at = True, None
        elif self._closed_at is None:
            self._closed_at = now
        return self.tick(now)

    def tick(self, now: float) -> bool:
        if self._closed_at is not None and now - self._closed_at >= SURE_S:
            self.off = False
        return self.off

    @property
    def waits(self) -> bool:
        """Whether `tick` may yet change something."""
        return self.off and self._closed_at is not None
