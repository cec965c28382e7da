"""The hold: playback is silent from an onset until the onset is classified or a timeout ends it.

In: serials of onsets, times. Out: whether playback is held, until when, and whether an answer that
was interrupted twice in a short time waits for quiet before it resumes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.dialog.policy import NEVER, DialogPolicy


@dataclass(frozen=True)
class OutputHold:
    """Whether playback is held, and why.

    serial         of the newest onset
    released       the serial that was released last
    until_s        when an open hold is released without a verdict; NEVER: it is closed
    onset_index    the card's index at which the newest onset's sound began; 0: not known
    resume_reason  why the answer resumes after the debounce; "": it does not wait for that
    rapid_since_s  when the answer was interrupted again soon after it resumed; NEVER: it was not
    resumed_s      when the answer last resumed after a hold
    yielding       the verdict was an interruption, and the answer is kept until what was said has
                   shown that it is one
    """

    serial: int = 0
    released: int = 0
    until_s: float = NEVER
    onset_index: int = 0
    resume_reason: str = ""
    rapid_since_s: float = NEVER
    resumed_s: float = -NEVER
    yielding: bool = False

    @property
    def open(self) -> bool:
        return self.until_s < NEVER

    @property
    def consistent(self) -> bool:
        """A closed hold has released its onset, and no answer waits for a debounce or a turn."""
        closed = (self.serial, "", NEVER, False)
        found = (self.released, self.resume_reason, self.rapid_since_s, self.yielding)
        return self.open or found == closed

    def start(self, serial: int, onset_index: int, until_s: float) -> OutputHold:
        """A new onset: wait for its verdict until `until_s`, and end a pending debounce."""
        return replace(
            self, serial=serial, onset_index=onset_index, until_s=until_s, resume_reason="",
            yielding=False,
        )  # fmt: skip

    def give_way(self, until_s: float) -> OutputHold:
        """The newest onset is an interruption: keep the answer until `until_s`, at most."""
        return replace(self, until_s=until_s, yielding=True)

    def adopt(self, serial: int) -> OutputHold:
        """Take over `serial` from the floor: the onset's message was lost."""
        return replace(self, serial=serial, onset_index=0)

    def extend(self, until_s: float) -> OutputHold:
        """Open the hold, or keep it open, until `until_s`."""
        return replace(self, until_s=until_s)

    def mark_rapid(self, now_s: float, policy: DialogPolicy) -> OutputHold:
        """An onset interrupts the answer: mark it as rapid if the answer has only just resumed."""
        rapid = now_s - self.resumed_s < policy.rapid_interrupt_s
        return replace(self, rapid_since_s=now_s) if rapid else self

    def needs_debounce(self, now_s: float, policy: DialogPolicy) -> bool:
        """Whether the answer was interrupted rapidly and has not yet waited for too long."""
        latest_s = self.rapid_since_s + policy.max_resume_wait_s
        return self.rapid_since_s < NEVER and now_s + policy.resume_debounce_s < latest_s

    def debounce(self, reason: str, until_s: float) -> OutputHold:
        """Resume for `reason` at `until_s`, unless there is another onset."""
        return replace(self, resume_reason=reason, until_s=until_s, yielding=False)

    def release(self) -> OutputHold:
        """Release the newest onset and close the hold."""
        return replace(
            self, released=self.serial, until_s=NEVER, resume_reason="", rapid_since_s=NEVER,
            yielding=False,
        )  # fmt: skip

    def resume(self, now_s: float) -> OutputHold:
        """Note when the answer resumed."""
        return replace(self, resumed_s=now_s)
