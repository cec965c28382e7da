"""What `interlude check` finds of the voices: each that is to speak says a word first."""

from __future__ import annotations

import time

from appliance.engines import shelf
from appliance.errors import VoiceError
from appliance.findings import Finding, ok, problem, warning
from appliance.models.store import Store
from appliance.settings import Settings
from appliance.voice import choose
from appliance.voice.espeak import Espeak
from appliance.voice.program import Program
from appliance.voice.trial import Trial
from appliance.voice.voice import Voice

_STANDS_IN = "espeak-ng speaks instead."


def look(settings: Settings) -> list[Finding]:
    """The voices from the best to the first that speaks. A warning for each that cannot; a problem
    where none can."""
    findings = _mute(settings)
    try:
        names = choose.candidates(settings)
    except VoiceError as error:
        findings.append(warning("voice", f"{error.problem} {_STANDS_IN}", error.remedy))
        names = [Espeak.name]
    if Espeak.name not in names:
        names.append(Espeak.name)
    commands = choose.commands(settings)
    for name in names:
        said = _spoken(name, settings, commands)
        if said.verdict == "ok":
            return [*findings, said]
        findings.append(said)
    findings[-1] = problem("voice", findings[-1].sentence, findings[-1].remedy)
    return findings


def _mute(settings: Settings) -> list[Finding]:
    """Voices that are here without a program that this machine can run, where any is to speak."""
    why = shelf.lacking(settings.programs_path(), shelf.PIPER)
    here = Store.of(settings).piper_voices()
    if not why or not here or settings.speaking.voice != choose.AUTO:
        return []
    return [warning("voice", f"{', '.join(here)} cannot speak. {why}", choose.REMEDY)]


def _spoken(name: str, settings: Settings, commands: choose.Commands) -> Finding:
    """What comes of one attempt. The voice is closed again."""
    voice: Voice
    try:
        if name == Espeak.name:
            voice = Espeak(settings.speaking.words_per_minute)
        else:
            voice = Program(name, commands[name])
    except VoiceError as error:
        return warning("voice", error.problem, error.remedy)
    trial = Trial(voice, time.monotonic)
    try:
        choose.finish(trial)
    finally:
        voice.close()
    if trial.verdict:
        remedy = "Fetch the voice again, or install its program again: see docs/voices.md."
        return warning("voice", trial.verdict, remedy)
    return ok("voice", f"{name} speaks: its first sound came after {trial.first_s:.2f} s.")
