"""The choice of the voice from the installed ones and the settings."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from appliance import settings
from appliance.errors import VoiceError
from appliance.settings import Settings
from appliance.voice.factory import (
    best,
    candidates,
    change_voice,
    commands,
    installed,
    languages,
    load,
)
from appliance.voice.interface import Voice
from tests.voice import bundles
from tests.voice.fakes import FakeVoice


def wanting(state_dir: Path, voice: str) -> Settings:
    return settings.load(
        Path(os.devnull), {"state_dir": str(state_dir), "speaking": {"voice": voice}}
    )


def install(state_dir: Path, name: str) -> None:
    folder = state_dir / "models" / name
    folder.mkdir(parents=True)
    for file in ("voice.onnx", "voice.onnx.json"):
        (folder / file).touch()


def first(settings: Settings) -> str:
    return candidates(settings)[0]


def test_auto_is_the_included_voice_until_another_and_its_program_are_installed(
    tmp_path: Path,
) -> None:
    assert first(wanting(tmp_path, "auto")) == "hibari"
    install(tmp_path, "anna")
    assert first(wanting(tmp_path, "auto")) == "hibari"
    bundles.plant(tmp_path / "voices")
    assert first(wanting(tmp_path, "auto")) == "anna"
    assert first(wanting(tmp_path, "espeak")) == "espeak"
    assert installed(wanting(tmp_path, "auto")) == ["anna", "hibari", "espeak"]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"machine": "pdp11"}, "made for pdp11; this box is"),
        ({"python": "2.7"}, "made for Python 2.7; this box has"),
        ({"protocol": 9}, "speaks protocol 9"),
        ({"engine": "other"}, "piper, is not installed"),
    ],
)
def test_a_voice_whose_program_does_not_fit_the_machine_cannot_speak(
    tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    install(tmp_path, "anna")
    bundles.plant(tmp_path / "voices", **changed)
    assert installed(wanting(tmp_path, "auto")) == ["hibari", "espeak"]
    with pytest.raises(VoiceError, match=f"anna is here, and cannot speak.*{reason}"):
        candidates(wanting(tmp_path, "anna"))


def test_the_newest_fitting_program_is_used(tmp_path: Path) -> None:
    install(tmp_path, "anna")
    for version, machine in (("0.9.0", "any"), ("0.10.0", "any"), ("0.11.0", "pdp11")):
        bundles.plant(tmp_path / "voices", version=version, machine=machine)
    (command, _) = commands(wanting(tmp_path, "auto"))["anna"]
    assert command == str(tmp_path / "voices/piper-0.10.0/bin/voice")


def test_the_voices_of_a_bundle_are_installed(tmp_path: Path) -> None:
    folder = bundles.plant(tmp_path / "voices", voices=("berta",))
    (folder / "voices/berta").mkdir(parents=True)
    (folder / "voices/berta/x.onnx").touch()
    assert installed(wanting(tmp_path, "auto")) == ["berta", "hibari", "espeak"]


@pytest.mark.process
def test_auto_takes_the_first_voice_that_makes_a_sound(tmp_path: Path) -> None:
    """The files of `anna` are empty."""
    install(tmp_path, "anna")
    bundles.fetched(tmp_path, "berta")
    bundles.plant(tmp_path / "voices")
    voices = load(wanting(tmp_path, "auto"), logging.getLogger())
    for voice in voices:
        voice.close()
    assert [voice.name for voice in voices] == ["berta", "espeak"]


def test_the_error_for_an_unknown_voice_names_the_installed_ones(tmp_path: Path) -> None:
    install(tmp_path, "anna")
    bundles.plant(tmp_path / "voices")
    with pytest.raises(VoiceError, match=r"no voice `ljspeech`.*anna, hibari, espeak"):
        candidates(wanting(tmp_path, "ljspeech"))


def test_a_half_fetched_voice_is_not_installed(tmp_path: Path) -> None:
    folder = tmp_path / "models/ljspeech"
    folder.mkdir(parents=True)
    (folder / "en_US-ljspeech-medium.onnx").touch()
    (folder / "en_US-ljspeech-medium.onnx.json").touch()  # no marker: the download was incomplete
    bundles.plant(tmp_path / "voices")
    assert first(wanting(tmp_path, "auto")) == "hibari"


def test_changing_the_voice_closes_the_former_one(tmp_path: Path) -> None:
    before = FakeVoice()
    (now, *_) = change_voice(wanting(tmp_path, "auto"), "espeak", [before], logging.getLogger())
    assert now.name == "espeak"
    assert before.closed


@pytest.mark.parametrize("name", ["", "anna", "../espeak"])
def test_changing_to_an_unknown_voice_changes_nothing(tmp_path: Path, name: str) -> None:
    voice = FakeVoice()
    before: list[Voice] = [voice]
    assert change_voice(wanting(tmp_path, "auto"), name, before, logging.getLogger()) is before
    assert not voice.closed


@pytest.mark.parametrize(
    ("config", "language"),
    [
        ('{"language": {"code": "de_DE"}, "espeak": {"voice": "de"}}', "de"),
        ('{"espeak": {"voice": "pt-br"}}', "pt"),
        ('{"language": {"code": "no_NO"}}', "nb"),
        ("{}", "en"),
        ("", "en"),
        ('{"language": 7}', "en"),
    ],
)
def test_the_language_of_a_voice_is_that_of_its_file_or_else_english(
    tmp_path: Path, config: str, language: str
) -> None:
    install(tmp_path, "anna")
    (tmp_path / "models/anna/voice.onnx.json").write_text(config)
    bundles.plant(tmp_path / "voices")
    spoken = languages(wanting(tmp_path, "auto"))
    assert spoken == {"anna": frozenset({language}), "hibari": frozenset({"en"})}


def test_with_a_set_language_only_voices_of_that_language_are_used(tmp_path: Path) -> None:
    for name, code in (("anna", "en_GB"), ("thorsten", "de_DE")):
        install(tmp_path, name)
        config = f'{{"language": {{"code": "{code}"}}}}'
        (tmp_path / f"models/{name}/voice.onnx.json").write_text(config)
    bundles.plant(tmp_path / "voices")
    plain = wanting(tmp_path, "auto")
    german = msgspec.structs.replace(plain, language="de")
    french = msgspec.structs.replace(plain, language="fr")
    assert candidates(plain) == ["anna", "hibari", "espeak"]
    assert candidates(german) == ["thorsten", "espeak"]
    assert candidates(french) == ["espeak"]
    names = ("thorsten", "anna", "hibari", "espeak")
    chosen = [best(configured, names) for configured in (plain, german, french)]
    assert chosen == ["anna", "thorsten", "espeak"]
    assert load(french, logging.getLogger("test"))[0].name == "espeak"


@pytest.mark.process
@pytest.mark.parametrize(
    ("language", "speaks"), [("auto", ["hibari", "espeak"]), ("de", ["espeak"])]
)
def test_an_unknown_voice_is_replaced_by_the_included_one_of_the_language(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, language: str, speaks: list[str]
) -> None:
    box = msgspec.structs.replace(wanting(tmp_path, "ljspeech"), language=language)
    voices = load(box, logging.getLogger("test"))
    for voice in voices:
        voice.close()
    assert [voice.name for voice in voices] == speaks
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    instead = "hibari" if len(speaks) > 1 else "espeak-ng"
    assert line.startswith("There is no voice `ljspeech` here.")
    assert line.endswith(f"{instead} speaks instead.")
