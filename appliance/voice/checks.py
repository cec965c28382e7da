"""Checks the voices for `interlude check`: each candidate is started and has to say a word."""

from __future__ import annotations

import time

from appliance.errors import VoiceError
from appliance.models.store import ModelStore
from appliance.runtime.diagnostics import Finding, ok, problem, warning
from appliance.settings import Settings
from appliance.voice import factory
from appliance.voice.engine import store
from appliance.voice.espeak import EspeakVoice
from appliance.voice.probe import VoiceTrial


def voice_findings(settings: Settings) -> list[Finding]:
    """Try the voices from the best to the first that speaks. A warning for each that cannot; a
    problem if none can."""
    findings = _mute(settings)
    try:
        names = factory.candidates(settings)
    except VoiceError as error:
        names = factory.in_its_place(settings)
        (instead,) = names or ["espeak-ng"]
        findings.append(
            warning("voice", f"{error.problem} {instead} speaks instead.", error.remedy)
        )
    if EspeakVoice.name not in names:
        names.append(EspeakVoice.name)
    for name in names:
        said = _spoken(name, settings)
        if said.verdict == "ok":
            return [*findings, said]
        findings.append(said)
    findings[-1] = problem("voice", findings[-1].sentence, findings[-1].remedy)
    return findings


def _mute(settings: Settings) -> list[Finding]:
    """A warning about voices without a program that this machine can run, for `voice: auto`."""
    why = store.lacking(settings.programs_path(), store.PIPER)
    here = ModelStore.of(settings).piper_voices()
    if not why or not here or settings.speaking.voice != factory.AUTO:
        return []
    return [warning("voice", f"{', '.join(here)} cannot speak. {why}", factory.REMEDY)]


def _spoken(name: str, settings: Settings) -> Finding:
    """The result of one trial. Closes the voice again."""
    try:
        voice = factory.open_voice(settings, name)
    except VoiceError as error:
        return warning("voice", error.problem, error.remedy)
    trial = VoiceTrial(voice, time.monotonic)
    try:
        factory.wait_for_trial(trial)
    finally:
        voice.close()
    if trial.verdict:
        remedy = "Fetch the voice again, or install its program again: see docs/voices.md."
        return warning("voice", trial.verdict, remedy)
    return ok("voice", f"{name} speaks: its first sound came after {trial.first_s:.2f} s.")
