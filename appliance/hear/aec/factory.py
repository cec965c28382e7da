"""The interface of echo cancellers, and a factory that creates one by the settings."""

from __future__ import annotations

from typing import Protocol

from appliance.hear.aec.kalman import KalmanCanceller
from appliance.hear.aec.path_estimate import Floats
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import EchoSettings


class EchoCanceller(Protocol):
    """Removes the box's own voice from the microphone's sound, one block at a time."""

    @property
    def path_changes(self) -> int:
        """Number of echo path changes detected."""

    @property
    def knows_echo(self) -> bool:
        """Whether it has converged and its echo estimate predicts the residual echo."""

    @property
    def late_reverb_db(self) -> float:
        """Expected level in dB of the echo after the canceller's tail; -100: none."""

    @property
    def misalignment_db(self) -> float:
        """Expected level in dB of the residual echo due to the error of the response; -100:
        unknown."""

    @property
    def active(self) -> bool:
        """False when there is nothing to cancel: silence was played for longer than the tail."""

    def cancel_echo(
        self, mic: Samples, played: Samples, clipped: Floats | None = None, *, mic_off: bool = False
    ) -> Samples:
        """Return `mic`, int16[frames], without the echo of `played`, int16[frames]."""


class PassThroughCanceller:
    """Returns the sound unchanged, for cards that cancel echo themselves."""

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
    """Create the canceller that the settings name, for blocks of `frames`."""
    match settings.canceller:
        case "kalman" | "auto" as name:
            rest = name == "auto"
            return KalmanCanceller(
                tail_ms=settings.tail_ms, frames=frames, rate_hz=RATE_HZ, may_rest=rest
            )
        case "hardware" | "none":
            return PassThroughCanceller()
