"""Describes each voice of the box: its program, language, licence and size. Starts none."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import msgspec

from appliance.errors import VoiceError
from appliance.models.store import ModelStore
from appliance.record_file import read_record
from appliance.runtime.enabled import ESPEAK, HEAD
from appliance.settings import Settings
from appliance.voice.engine import store
from appliance.voice.head_weights import SHIPPED, head_folder
from appliance.voice.hibari import engine as hibari

UNKNOWN = "?"
_MOST_BYTES = 1 << 20  # of a voice's settings file; Piper's have 5 kB, with a table of phonemes


class VoiceDescription(NamedTuple):
    """One voice. `spoken_by`: its program, or why there is none. `size_bytes`: of its files; None
    if unknown."""

    name: str
    spoken_by: str
    comes_from: str
    language: str
    licence: str
    size_bytes: int | None


class _PiperLanguage(msgspec.Struct, frozen=True):
    code: str = ""  # de_DE


class _PiperEspeak(msgspec.Struct, frozen=True):
    voice: str = ""  # de, en-us


class _PiperConfig(msgspec.Struct, frozen=True):
    """The fields of a voice's `.onnx.json` that have its language; older ones lack the first."""

    language: _PiperLanguage = _PiperLanguage()
    espeak: _PiperEspeak = _PiperEspeak()


def descriptions(settings: Settings) -> list[VoiceDescription]:
    """The voices of this box, the best first, in the order of `speaking.voice: auto`."""
    root = settings.programs_path()
    models = ModelStore.of(settings)
    engine, why = store.engine(root, store.PIPER), store.lacking(root, store.PIPER)
    spoken_by = f"{store.PIPER} {engine.manifest.version}" if engine else f"nothing: {why}"
    downloaded = models.piper_voices()
    found = [
        VoiceDescription(
            name,
            spoken_by,
            "the models" if name in downloaded else "the program's bundle",
            piper_language(model) or UNKNOWN,
            models.models[name].licence if name in models.models else UNKNOWN,
            model.stat().st_size,
        )
        for name, model in {**(engine.voices() if engine else {}), **downloaded}.items()
    ]
    return [*found, _hibari(), _espeak(), _head(settings)]


def piper_language(model: Path) -> str:
    """The language by the model's settings file: en_US, or espeak-ng's name of the language. "" if
    it is unknown."""
    config = read_record(model.with_name(f"{model.name}.json"), _PiperConfig, _MOST_BYTES)
    return (config.language.code or config.espeak.voice)[:20] if config is not None else ""


def _hibari() -> VoiceDescription:
    package = find_spec("hibari")
    (folder,) = package.submodule_search_locations or [""] if package is not None else [""]
    size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    comes_from = "the box"
    return VoiceDescription(
        hibari.NAME, hibari.NAME, comes_from, "en_US", "Apache-2.0", size if folder else None
    )


def _head(settings: Settings) -> VoiceDescription:
    """The speech head, which speaks one language model's hidden states (docs/speech-head.md). It is
    last in the list, because it is used only if the settings name it."""
    try:
        folder = head_folder(settings)
    except VoiceError as error:
        why = f"nothing: {error.problem}"
        return VoiceDescription(HEAD, why, "the models", "en", UNKNOWN, None)
    shipped = folder == SHIPPED
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    licence = "Apache-2.0" if shipped else UNKNOWN
    return VoiceDescription(HEAD, HEAD, "the box" if shipped else "the models", "en", licence, size)


def _espeak() -> VoiceDescription:
    return VoiceDescription(
        ESPEAK, "espeak-ng", "the system", "some hundred", "GPL-3.0-or-later", None
    )
