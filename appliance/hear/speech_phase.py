"""The state of the hearing pipeline: what it knows of the present sound."""

from __future__ import annotations

from enum import Enum, auto


class SpeechPhase(Enum):
    """What is known of the present sound."""

    QUIET = auto()
    SOUND = auto()  # after an onset while the box is silent, not yet confirmed as an utterance
    JUDGED = auto()  # after an onset while the box speaks, before its verdict
    SPEECH = auto()  # an utterance, whose samples go out
