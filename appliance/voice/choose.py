"""Which voice speaks: what the owner named, what is installed, and what stands in for it."""

from __future__ import annotations

import logging

import msgspec

from appliance.errors import VoiceError
from appliance.models.store import Store
from appliance.settings import Settings
from appliance.voice.espeak import Espeak
from appliance.voice.voice import Voice

AUTO = "auto"


def installed(settings: Settings) -> list[str]:
    """The names that `speaking.voice` may have on this box, besides auto."""
    return [*Store.of(settings).piper_voices(), Espeak.name]


def choose(settings: Settings) -> str:
    """The name of the voice that is to speak.

    Raises VoiceError, with the names that exist, for a voice that is not installed.
    """
    names = installed(settings)
    wanted = settings.speaking.voice
    if wanted == AUTO:
        return names[0]
    if wanted not in names:
        raise VoiceError(
            f"There is no voice `{wanted}` here.",
            f"There is {', '.join(names)}; get others with `interlude models fetch`.",
        )
    return wanted


def load(settings: Settings, log: logging.Logger) -> list[Voice]:
    """The chosen voice, loaded, and after it espeak-ng for when it breaks. Not empty.

    A box that can speak at all does: what is wrong with the chosen voice is logged. Raises
    VoiceError when nothing can speak.
    """
    voices: list[Voice] = []
    try:
        name = choose(settings)
        if name != Espeak.name:
            from appliance.voice.piper import Piper  # its libraries take a second to import

            voices.append(Piper(name, Store.of(settings).piper_voices()[name]))
    except VoiceError as error:
        log.error("%s espeak-ng speaks instead.", error)
    try:
        voices.append(Espeak(settings.speaking.words_per_minute))
    except VoiceError:
        if not voices:
            raise
        log.warning("espeak-ng is not installed: nothing stands in if %s fails", voices[0].name)
    return voices


def other(settings: Settings, name: str, voices: list[Voice], log: logging.Logger) -> list[Voice]:
    """The voice `name` and its stand-in in place of `voices`, which are closed; or `voices`
    themselves, and a line in the log, where there is no such voice or it is broken."""
    if name not in installed(settings):
        log.warning("there is no voice of the name that was asked for")
        return voices
    speaking = msgspec.structs.replace(settings.speaking, voice=name)
    try:
        fresh = load(msgspec.structs.replace(settings, speaking=speaking), log)
    except VoiceError as error:
        log.error("%s", error)
        return voices
    for voice in voices:
        voice.close()
    return fresh
