"""The worst current problem of the box as one word, for Home Assistant. Pure."""

from __future__ import annotations

from collections.abc import Iterable

NONE = "none_found"
POWER = "power"
BUTTON = "button"  # stuck, or bouncing continuously; it is ignored meanwhile
STORAGE = "storage"  # writes fail: mute and other settings may be lost at the next start

# Process of the process table, or sound card as the conductor names it → word; the worst first.
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
    """`broken`: processes that failed and sound cards that are missing. The flags: that fault is
    present."""
    found = {_WORDS.get(part, OTHER) for part in broken}
    flags = {POWER: low_voltage, BUTTON: button, STORAGE: storage}
    found |= {word for word, active in flags.items() if active}
    return next((word for word in PROBLEMS if word in found), NONE)
