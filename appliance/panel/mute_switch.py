"""The mute switch on the housing: turns levels into whether it cuts the microphone. Pure."""

from __future__ import annotations

from dataclasses import dataclass

SURE_S = 0.05  # time closed before the box listens again; contacts bounce for up to 10 ms


@dataclass
class MuteSwitch:
    """Cuts at the first edge until it has been closed for SURE_S: bouncing never ends the mute."""

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
    def pending(self) -> bool:
        """Whether `tick` may still change `off`."""
        return self.off and self._closed_at is not None
