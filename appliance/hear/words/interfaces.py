"""The interfaces of word recognisers and wake word spotters."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from appliance.pcm import RATE_HZ, Samples

BEFORE_FRAMES = 3 * RATE_HZ // 10  # of sound before its detection, which is fed with it


class WordHypothesis(NamedTuple):
    """Words recognised so far, in lower case, and the recogniser's confidence, 0 to 1."""

    text: str
    sure: float


class WordRecogniser(Protocol):
    """Recognises one sound at a time. `unknown`: the owner's phrases that it cannot recognise."""

    name: str
    unknown: tuple[str, ...]

    def start(self) -> None:
        """Start a new sound and forget the last one."""

    def process(self, samples: Samples) -> None:
        """Add int16 samples of any length, in order."""

    def hypothesis(self) -> WordHypothesis:
        """The words so far; called several times a second."""


class WakeWordSpotter(Protocol):
    """Detects one phrase in continuous sound. `score`: the newest, 0 to 1; above `threshold` the
    phrase is detected. A `threshold` of 0: the spotter provides no scores."""

    name: str
    phrase: str
    score: float
    threshold: float
    late_frames: int  # usual delay of the detection after the phrase's end

    def process(self, samples: Samples) -> float | None:
        """Add int16 samples of any length. The score, 0 to 1, at the phrase's end; else None."""

    def reset(self) -> None:
        """Forget the past sound; call before a gap in the sound."""
