"""Which parts and sound cards work, and whether the dialogue can go on without the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

VOICE = frozenset({"playback", "the loudspeaker"})  # with one of these broken the box is silent


@dataclass(frozen=True)
class PartAvailability:
    """Which parts and sound cards work.

    thinker_up  the model is loaded
    broken      needed parts that have failed, and cards that are gone: the dialogue has failed
    degraded    other parts that have failed: the dialogue goes on without them
    """

    thinker_up: bool = False
    broken: frozenset[str] = frozenset()
    degraded: frozenset[str] = frozenset()

    @property
    def voiceless(self) -> bool:
        """The box cannot speak."""
        return bool(self.broken & VOICE)

    @property
    def failed(self) -> frozenset[str]:
        """All that has failed, needed or not."""
        return self.broken | self.degraded

    def set_thinker(self, *, up: bool) -> PartAvailability:
        return replace(self, thinker_up=up)

    def fail(self, part: str, *, needed: bool) -> PartAvailability:
        """Note that `part` has failed."""
        if needed:
            return replace(self, broken=self.broken | {part})
        return replace(self, degraded=self.degraded | {part})

    def restore(self, part: str) -> PartAvailability:
        """Note that `part` works again."""
        return replace(self, broken=self.broken - {part}, degraded=self.degraded - {part})
