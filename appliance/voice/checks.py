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
    findings = _without_program(settings)
    try:
        names = factory.candidates(settings)
    except VoiceError as error:
        names = factory.fallback_names(settings)
        (replacement,) = names or ["espeak-ng"]
        findings.append(
            warning("voice", f"{error.problem} {replacement} speaks instead.", error.remedy)
        )
    if EspeakVoice.name not in names:
        names.append(EspeakVoice.name)
    for name in names:
        finding = _try_voice(name, settings)
        if finding.verdict == "ok":
            return [*findings, finding]
        findings.append(finding)
    findings[-1] = problem("voice", findings[-1].sentence, findings[-1].remedy)
    return findings


def _without_program(settings: Settings) -> list[Finding]:
    """A warning about voices without a program that this machine can run, for `voice: auto`."""
    why = store.lacking(settings.programs_path(), store.PIPER)
    here = ModelStore.of(settings).piper_voices()
    if not why or not here or settings.speaking.voice != factory.AUTO:
        return []
    return [warning("voice", f"{', '.join(here)} cannot speak. {why}", factory.REMEDY)]


def _try_voice(name: str, settings: Settings) -> Finding:
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
