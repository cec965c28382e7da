"""A sentence between its order and its last sample, as the speech queue keeps it."""

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
    begun_s: float
    position: int
    frames: int = 0
    chime_frames: int = 0  # of these
    first_s: float | None = None
    language: str = ""
    unable: list[Voice] = field(default_factory=list)  # they have no sounds for its text
    words: Sequence[SpokenWord] = ()
    passed_on: bool = False  # a voice that was to say it could not
    mixed: bool = False  # two voices say it: of its words nothing is told
    placed: int = 0  # of these: their beginnings are known to what hands the sound out
