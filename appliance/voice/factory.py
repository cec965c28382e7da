"""Selects and starts the voices: the one of the settings, the installed ones, and the fallbacks."""

from __future__ import annotations

import logging
import math
import select
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from appliance.errors import VoiceError
from appliance.language.catalogue import SOURCE
from appliance.language.codes import base
from appliance.models.store import ModelStore
from appliance.runtime.enabled import HEAD
from appliance.runtime.ipc.ring_handles import RingHandles
from appliance.settings import Settings
from appliance.voice.by_language import VoicesByLanguage
from appliance.voice.description import piper_language
from appliance.voice.engine import store
from appliance.voice.espeak import EspeakVoice
from appliance.voice.head_voice import HeadVoice
from appliance.voice.head_weights import head_folder
from appliance.voice.hibari import engine as hibari
from appliance.voice.interface import Voice, is_loading
from appliance.voice.judged_voice import JudgedVoice
from appliance.voice.probe import VoiceTrial
from appliance.voice.program import ProgramVoice
from appliance.voice.speech_judge import SpeechJudge, recogniser_here

AUTO = "auto"
# Timeout for a voice that is loading: a box that soon speaks with espeak-ng is better than a mute
# one. hibari takes 0.8 s of one x86 core, and minutes on a machine with all cores busy.
WAIT_S = 10.0
VoiceCommands = dict[str, tuple[str, ...]]
RESTART = "`sudo systemctl restart interlude` restarts it."
REMEDY = "`interlude voices install FILE` installs a program; see docs/voices.md."


def commands(settings: Settings) -> VoiceCommands:
    """The installed voices with a program that this machine can run, the best first: name → its
    command. Voices that the owner downloaded precede the one that comes with the box.

    Only a trial (probe.py) shows whether they can really speak.
    """
    models: dict[str, Path] = {}
    if (engine := store.engine(settings.programs_path(), store.PIPER)) is not None:
        models = {**engine.voices(), **ModelStore.of(settings).piper_voices()}
    hibari_command = hibari.command(settings.speaking.words_per_minute)
    return {
        **{name: engine.command(model) for name, model in models.items() if engine is not None},
        hibari.NAME: hibari_command,
    }


def languages(settings: Settings) -> dict[str, frozenset[str]]:
    """The languages of the voices of `commands`, by their files; English if a file has none."""
    found = {
        name: frozenset({base(piper_language(Path(command[-1])) or SOURCE)})
        for name, command in commands(settings).items()
        if name != hibari.NAME
    }
    return {**found, hibari.NAME: frozenset({SOURCE})}


def best(settings: Settings, names: Sequence[str]) -> str:
    """The first of `names` that is a candidate, so of the box's own language; else espeak-ng."""
    wanted = candidates(settings)
    return next((name for name in names if name in wanted), EspeakVoice.name)


def open_voice(settings: Settings, name: str) -> Voice:
    """Start the voice `name`, which may still be loading. The caller has to close it.

    Raises VoiceError if it is not installed, or no program here speaks it.
    """
    speaking = msgspec.structs.replace(settings.speaking, voice=name)
    (name, *_) = candidates(msgspec.structs.replace(settings, speaking=speaking))
    if name == EspeakVoice.name:
        return EspeakVoice(settings.speaking.words_per_minute)
    return ProgramVoice(name, commands(settings)[name])


def installed(settings: Settings) -> list[str]:
    """The names that `speaking.voice` may have on this box, besides auto."""
    return [*commands(settings), EspeakVoice.name]


def candidates(settings: Settings) -> list[str]:
    """The names of the voices that may be the chosen one by the settings, the best first.

    Raises VoiceError for a voice that is not installed, with the names of those that are, and for
    one that no program here speaks.
    """
    names = installed(settings)
    wanted = settings.speaking.voice
    if wanted in (AUTO, HEAD):  # the head needs a second voice: it says only the model's answers
        spoken = languages(settings)
        return [
            name
            for name in names
            if name == EspeakVoice.name or settings.own_language in spoken[name]
        ]
    if wanted in names:
        return [wanted]
    if wanted in ModelStore.of(settings).piper_voices():
        raise VoiceError(
            f"The voice {wanted} is here, and cannot speak: "
            f"{_lower_first(store.lacking(settings.programs_path(), store.PIPER))}",
            REMEDY,
        )
    raise VoiceError(
        f"There is no voice `{wanted}` here.",
        f"There is {', '.join(names)}; get others with `interlude models fetch`.",
    )


def fallback_names(settings: Settings) -> list[str]:
    """The voice, if any, that precedes espeak-ng if the one of the settings is not installed."""
    return [hibari.NAME] if settings.own_language in languages(settings)[hibari.NAME] else []


def load(
    settings: Settings,
    log: logging.Logger,
    beat: Callable[[], None] = lambda: None,
    states: RingHandles | None = None,
) -> list[Voice]:
    """The chosen voice, after its trial, and espeak-ng as its fallback. Not empty.

    A problem with the chosen voice is logged, and another voice speaks. While a voice is still
    loading after `WAIT_S`, espeak-ng speaks until it is ready. A voice that the settings name is
    kept even if its trial fails: its program is restarted again and again. If it is not installed,
    hibari speaks in hibari's language, and espeak-ng in others. `beat` is called while a voice
    loads. `states`: the ring that the voice `head` reads. Raises VoiceError if no voice can speak.
    """
    voices: list[Voice] = []
    if settings.speaking.voice == HEAD:
        try:
            voices.append(open_head(settings, states))
        except VoiceError as error:
            log.error("%s A text voice speaks instead.", error)
    named = settings.speaking.voice not in (AUTO, HEAD)
    try:
        names = [name for name in candidates(settings) if name != EspeakVoice.name]
    except VoiceError as error:
        named = False
        names = fallback_names(settings)
        (replacement,) = names or ["espeak-ng"]
        log.error("%s %s speaks instead.", error, replacement)
    for name in names:
        program = ProgramVoice(name, commands(settings)[name])
        problem = try_voice(program, beat, WAIT_S)
        if problem is None:
            log.warning("%s is still loading: espeak-ng speaks until it is ready", name)
        if not problem:
            voices.append(program)
            break
        log.error("%s", problem)
        if named:
            voices.append(program)
        else:
            program.close()
    try:
        voices.append(espeak(settings, settings.own_language))
    except VoiceError:
        if not voices:
            raise
        log.warning("espeak-ng is not installed: nothing stands in if %s fails", voices[0].name)
    return voices


def espeak(settings: Settings, language: str) -> EspeakVoice:
    """espeak-ng in `language`. Raises VoiceError if it is not installed or lacks the language."""
    return EspeakVoice(settings.speaking.words_per_minute, language=language)


def by_language(
    settings: Settings, voices: list[Voice], identify: Callable[[str], str]
) -> VoicesByLanguage:
    """The selection of voices by a sentence's language. `voices`: those that `load` returned."""
    return VoicesByLanguage(
        voices,
        identify,
        here=lambda: languages(settings),
        start=lambda name: _program(settings, name),
        espeak=lambda language: espeak(settings, language),
        so_far=settings.own_language,
        espeak_alone=settings.speaking.voice == EspeakVoice.name,
    )


def open_head(settings: Settings, states: RingHandles | None) -> Voice:
    """Start the voice of hidden states. Raises VoiceError if this box cannot have it."""
    folder = head_folder(settings)
    if states is None:
        raise VoiceError("The voice `head` can speak after the box has been restarted.", RESTART)
    head = HeadVoice(folder, states)
    return JudgedVoice(head, SpeechJudge()) if recogniser_here() else head


def try_voice(
    voice: Voice, beat: Callable[[], None] = lambda: None, loading_s: float = math.inf
) -> str | None:
    """Run a trial of a voice: it has to say a word. Returns the problem, or "". None: the voice was
    still loading after `loading_s`."""
    return wait_for_trial(VoiceTrial(voice, time.monotonic), beat, loading_s)


def wait_for_trial(
    trial: VoiceTrial, beat: Callable[[], None] = lambda: None, loading_s: float = math.inf
) -> str | None:
    """Wait for the end of a trial. Returns its verdict; None if the voice was still loading after
    `loading_s`, so that the trial has not sent its word yet."""
    until_s = time.monotonic() + loading_s
    while trial.verdict is None:
        if is_loading(trial.voice) and time.monotonic() > until_s:
            return None
        poll = select.poll()
        if (fd := trial.fileno()) >= 0:
            poll.register(fd, select.POLLIN)
        poll.poll(50)
        trial.poll()
        beat()
    return trial.verdict


def change_voice(
    settings: Settings,
    name: str,
    voices: list[Voice],
    log: logging.Logger,
    beat: Callable[[], None] = lambda: None,
    states: RingHandles | None = None,
) -> list[Voice]:
    """Load the voice `name` and its fallback in place of `voices`, and close these. Returns
    `voices` themselves, and logs the reason, if there is no such voice or no voice can speak."""
    if name not in (*installed(settings), *((HEAD,) if states is not None else ())):
        log.warning("the requested voice is not installed")
        return voices
    speaking = msgspec.structs.replace(settings.speaking, voice=name)
    try:
        changed = msgspec.structs.replace(settings, speaking=speaking)
        fresh = load(changed, log, beat, states)
    except VoiceError as error:
        log.error("%s", error)
        return voices
    for voice in voices:
        voice.close()
    return fresh


def _program(settings: Settings, name: str) -> Voice:
    command = commands(settings).get(name)
    if command is None:
        raise VoiceError(f"The voice {name} is no longer installed.")
    return ProgramVoice(name, command)


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
