"""The interface of echo cancellers, and the choice of one by the settings."""

from __future__ import annotations

from typing import Protocol

from appliance.hear.aec.kalman import KalmanCanceller
from appliance.hear.aec.path_estimate import Floats
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import EchoSettings


class EchoCanceller(Protocol):
    """Takes the box's own voice out of the microphone's sound, one block at a time."""

    @property
    def path_changes(self) -> int:
        """How often the room was found to have changed."""

    @property
    def knows_echo(self) -> bool:
        """It knows the room, and what it expects of the echo tells what may be left of it."""

    @property
    def late_reverb_db(self) -> float:
        """How loud it expects the echo to be that comes later than it can follow; -100: not."""

    @property
    def misalignment_db(self) -> float:
        """How loud it expects to be what it leaves of the echo while it knows the room badly; -100:
        it cannot tell."""

    @property
    def active(self) -> bool:
        """False when there is nothing to cancel, since nothing sounded for longer than the tail."""

    def cancel_echo(
        self, mic: Samples, played: Samples, clipped: Floats | None = None, *, mic_off: bool = False
    ) -> Samples:
        """What remains of `mic`, int16[frames], without the echo of `played`, int16[frames]."""


class PassThroughCanceller:
    """For cards that cancel echo themselves."""

    active = False
    path_changes = 0
    late_reverb_db = -100.0
    misalignment_db = -100.0
    knows_echo = False

    def cancel_echo(
        self, mic: Samples, played: Samples, clipped: Floats | None = None, *, mic_off: bool = False
    ) -> Samples:
        return mic


def make_canceller(settings: EchoSettings, frames: int) -> EchoCanceller:
    """The one of that name for blocks of `frames`."""
    match settings.canceller:
        case "kalman" | "auto" as name:
            rest = name == "auto"
            return KalmanCanceller(
                tail_ms=settings.tail_ms, frames=frames, rate_hz=RATE_HZ, may_rest=rest
            )
        case "hardware" | "none":
            return PassThroughCanceller()
