"""Records the takes of an enrolment: after each question, `TAKE_S` of the unprocessed microphone.

In: requests for takes, states of the dialogue, blocks. Out: messages, and each complete take. Time
is the number of samples given. From the question on, speech is not taken as addressed to the box
(`ignores_speech`), until the enrolment ends or the box plays something else: an owner must be able
to stop a ringing timer.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from appliance.messages.commands import StateChanged
from appliance.messages.enrolling import TAKE_S, AskTake
from appliance.messages.trying import SoundRecording, TrialRefused
from appliance.pcm import RATE_HZ, Samples

ASKING_FRAMES = 20 * RATE_HZ  # timeout for the question to start, and to end
SETTLING_FRAMES = RATE_HZ // 4  # until the question's reverberation has decayed
BETWEEN_FRAMES = 15 * RATE_HZ  # timeout for the next question; a Pi checks a take in seconds
TAKE_FRAMES = round(TAKE_S * RATE_HZ)

TakePhase = Literal["none", "asked", "asking", "settling", "recording", "between"]
_LONGEST: dict[TakePhase, int] = {
    "asked": ASKING_FRAMES,
    "asking": ASKING_FRAMES,
    "between": BETWEEN_FRAMES,
}
TakeMessage = SoundRecording | TrialRefused


class TakeRecorder:
    """Records one take after another."""

    def __init__(self) -> None:
        self._phase: TakePhase = "none"
        self._frames = 0  # samples in this phase
        self._request = AskTake(0, 0, "mm-hm")
        self._blocks: list[Samples] = []
        self._take: tuple[AskTake, Samples] | None = None

    @property
    def recording(self) -> bool:
        return self._phase == "recording"

    @property
    def ignores_speech(self) -> bool:
        """Whether the microphone's sound goes only to the enrolment."""
        return self._phase != "none"

    def ask(self, request: AskTake, *, busy: bool, mic_off: bool) -> list[TakeMessage]:
        """Wait for the box to ask for a take; the recording starts when it has spoken."""
        if mic_off or (busy and not self.ignores_speech):
            self._enter("none")
            return [TrialRefused(request.number, "muted" if mic_off else "busy")]
        self._request = request
        self._enter("asked")
        return []

    def on_state(self, changed: StateChanged) -> list[TakeMessage]:
        """Follow the question's start and end; give up if the box plays something else."""
        match self._phase, changed.state:
            case "asked", "speaking" if not changed.ring:
                self._enter("asking")
            case "asking", "idle":
                self._enter("settling")
            case (("asked" | "settling" | "recording" | "between"), "idle"):
                pass
            case "between", "speaking" if not changed.ring:
                pass  # the box announces the result of the enrolment
            case "none", _:
                pass
            case _:
                return self._give_up("muted" if changed.state == "muted" else "busy")
        return []

    def process(self, mic: Samples, *, mic_off: bool) -> list[TakeMessage]:
        """Process one block of the microphone, unprocessed; returns the messages to send."""
        if self._phase == "none":
            return []
        if mic_off:
            return self._give_up("muted")
        self._frames += len(mic)
        if self._phase == "recording":
            self._blocks.append(mic.copy())
            return self._finish() if self._frames >= TAKE_FRAMES else []
        if self._phase == "settling" and self._frames >= SETTLING_FRAMES:
            self._enter("recording")
            return [SoundRecording(self._request.number, on=True)]
        if self._frames >= _LONGEST.get(self._phase, self._frames + 1):
            return self._give_up("busy")
        return []

    def pop_take(self) -> tuple[AskTake, Samples] | None:
        """The newly recorded take, once; None if there is none."""
        take, self._take = self._take, None
        return take

    def cancel(self) -> list[TakeMessage]:
        """Stop and discard the take."""
        was_recording = self.recording
        self._enter("none")
        self._take = None
        return [SoundRecording(self._request.number, on=False)] if was_recording else []

    def _finish(self) -> list[TakeMessage]:
        self._take = self._request, np.concatenate(self._blocks)
        self._enter("between")
        return [SoundRecording(self._request.number, on=False)]

    def _give_up(self, why: Literal["busy", "muted"]) -> list[TakeMessage]:
        pending = self._phase != "between"  # no take is pending then
        messages = self.cancel()
        return [*messages, TrialRefused(self._request.number, why)] if pending else messages

    def _enter(self, phase: TakePhase) -> None:
        self._phase, self._frames = phase, 0
        self._blocks.clear()
