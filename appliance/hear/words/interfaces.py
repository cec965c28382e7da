"""The interfaces of word recognisers and wake word spotters."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from appliance.pcm import RATE_HZ, Samples

BEFORE_FRAMES = 3 * RATE_HZ // 10  # of sound before it was noticed, given with it


class WordHypothesis(NamedTuple):
    """What a sound says so far: lower-case words, and how sure that is, 0 to 1."""

    text: str
    sure: float


class WordRecogniser(Protocol):
    """Hears one sound at a time. `unknown`: phrases of the owner's that it can never hear."""

    name: str
    unknown: tuple[str, ...]

    def start(self) -> None:
        """Another sound; the last one is forgotten."""

    def process(self, samples: Samples) -> None:
        """int16 of any length, in order."""

    def hypothesis(self) -> WordHypothesis:
        """What it says so far; asked some times a second."""


class WakeWordSpotter(Protocol):
    """Hears everything, and knows one phrase. `score`: the newest, 0 to 1, which counts as heard
    above `threshold`; a `threshold` of 0: it tells no scores."""

    name: str
    phrase: str
    score: float
    threshold: float
    late_frames: int  # how long after the phrase's end it usually notices

    def process(self, samples: Samples) -> float | None:
        """int16 of any length: the score, 0 to 1, when the phrase has just ended; else None."""

    def reset(self) -> None:
        """The sound that comes next does not join what came before."""
