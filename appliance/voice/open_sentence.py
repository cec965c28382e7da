"""The speech queue's record of the sentence that is being synthesised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from appliance.messages.speech import Speak
from appliance.voice.interface import Voice
from appliance.voice.spoken_words import SpokenWord


@dataclass
class OpenSentence:
    """The sentence that is being synthesised. Times in seconds of the caller's clock."""

    order: Speak
    started_s: float
    position: int
    frames: int = 0
    chime_frames: int = 0  # of `frames`: those of the chime
    first_s: float | None = None
    language: str = ""
    unable: list[Voice] = field(default_factory=list)  # voices that cannot say its text
    words: Sequence[SpokenWord] = ()
    passed_on: bool = False  # the voice that should have said it could not
    mixed: bool = False  # two voices say it: the positions of its words are not reported
    placed: int = 0  # number of `words` whose positions are in the queue's WordBegins
