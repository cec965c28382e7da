"""The worst present problem of the box as one word, for Home Assistant. Pure."""

from __future__ import annotations

from collections.abc import Iterable

NONE = "none_found"
POWER = "power"
BUTTON = "button"  # stuck, or bouncing without end; it is ignored meanwhile
STORAGE = "storage"  # the disk fails: mute, or what else was set, may not outlast this start

# A part of the process table, or a card in the conductor's words → the word; the worst first.
_WORDS: dict[str, str] = {
    "the microphone": "microphone",
    "capture": "microphone",
    "the loudspeaker": "loudspeaker",
    "playback": "loudspeaker",
    "listener": "hearing",
    "thinker": "model",
    "speaker": "voice",
}
OTHER = "part"  # any other process that has failed
PROBLEMS: tuple[str, ...] = (NONE, *dict.fromkeys(_WORDS.values()), POWER, OTHER, STORAGE, BUTTON)


def worst(
    broken: Iterable[str], *, low_voltage: bool, button: bool = False, storage: bool = False
) -> str:
    """`broken`: parts that have failed, and cards that are gone. The others: it has a fault."""
    found = {_WORDS.get(part, OTHER) for part in broken}
    others = {POWER: low_voltage, BUTTON: button, STORAGE: storage}
    found |= {word for word, so in others.items() if so}
    return next((word for word in PROBLEMS if word in found), NONE)
