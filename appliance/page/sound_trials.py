"""The latest sound test: tone, microphone or echo. Pure: time is an argument.

In: commands of browsers, the box's messages. Out: messages for the conductor, events for browsers.
"""

from __future__ import annotations

from typing import Literal

from appliance.messages.commands import StateChanged
from appliance.messages.registry import Message
from appliance.messages.trying import (
    EchoMeasured,
    EndTrial,
    SoundRecorded,
    SoundRecording,
    StartTrial,
    TrialKind,
    TrialRefused,
)
from appliance.page.live import Event

TrialPhase = Literal["asked", "recording", "recorded", "playing", "done", "refused"]
# Timeout of each phase in seconds, in case a message is lost.
LONGEST_S: dict[TrialPhase, float] = {
    "asked": 5.0,
    "recording": 8.0,
    "recorded": 3.0,
    "playing": 20.0,
}
_SOUNDING = ("speaking", "holding")


class SoundTrials:
    """One test at a time. `kind`: "" before the first. `why`: reason of a refusal, a key's last
    part. `recorded`: levels of the last microphone test; `echo`: levels before and after the
    canceller in the last playback."""

    def __init__(self) -> None:
        self.kind: TrialKind | Literal[""] = ""
        self.phase: TrialPhase = "done"
        self.why = ""
        self.number = 0
        self.recorded: SoundRecorded | None = None
        self.echo: EchoMeasured | None = None
        self._since_s = 0.0

    @property
    def under_way(self) -> bool:
        return self.phase in LONGEST_S

    def begin(self, kind: TrialKind, now_s: float) -> StartTrial | None:
        """Start a test. Returns the message to send; None while one is under way."""
        self.expire(now_s)
        if self.under_way:
            return None
        self.kind, self.why = kind, ""
        self.number = max(self.number + 1, round(now_s * 1000))  # differs from an earlier page's
        if kind == "microphone":
            self.recorded = None
        else:
            self.echo = None
        self._enter("asked", now_s)
        return StartTrial(self.number, kind)

    def abandon(self, now_s: float) -> EndTrial | None:
        """End the test because no browser shows it. None if none is under way."""
        if not self.under_way:
            return None
        self._enter("done", now_s)
        return EndTrial(self.number)

    def handle(self, message: Message, now_s: float) -> list[Event]:
        """Handle a message of the box. Returns events for browsers."""
        before = self.phase
        match message:
            case TrialRefused(number, why) if number == self.number and self.under_way:
                self.refuse(why, now_s)
            case SoundRecording(number, on=True) if self._is_asked(number):
                self._enter("recording", now_s)
            case SoundRecorded(number) if number == self.number and self.under_way:
                self.recorded = message
                self._enter("recorded" if message.played else "done", now_s)
            case EchoMeasured(number) if number == self.number:
                self.echo = message
                return [{"k": "trial", "phase": self.phase}]
            case StateChanged(state) if self._waits_for_sound and state in _SOUNDING:
                self._enter("playing", now_s)
            case StateChanged(state) if self.phase == "playing" and state not in _SOUNDING:
                self._enter("done", now_s)
        return self._news(before)

    def expire(self, now_s: float) -> list[Event]:
        """End a phase that has timed out."""
        before = self.phase
        if self.under_way and now_s - self._since_s > LONGEST_S[self.phase]:
            if self.phase in ("asked", "recording"):
                self.refuse("no-answer", now_s)
            else:
                self._enter("done", now_s)
        return self._news(before)

    def refuse(self, why: str, now_s: float) -> None:
        """Mark the test as refused."""
        self.why = why
        self._enter("refused", now_s)

    def _is_asked(self, number: int) -> bool:
        return number == self.number and self.phase == "asked"

    @property
    def _waits_for_sound(self) -> bool:
        return self.phase == ("recorded" if self.kind == "microphone" else "asked")

    def _enter(self, phase: TrialPhase, now_s: float) -> None:
        self.phase, self._since_s = phase, now_s

    def _news(self, before: TrialPhase) -> list[Event]:
        return [] if self.phase == before else [{"k": "trial", "phase": self.phase}]
