"""Which voice speaks, by what is installed and what the owner wants."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from appliance import settings
from appliance.errors import VoiceError
from appliance.settings import Settings
from appliance.voice.choose import choose, installed, other
from appliance.voice.voice import Voice
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


def test_auto_is_espeak_until_a_piper_voice_is_installed(tmp_path: Path) -> None:
    assert choose(wanting(tmp_path, "auto")) == "espeak"
    install(tmp_path, "anna")
    assert choose(wanting(tmp_path, "auto")) == "anna"
    assert choose(wanting(tmp_path, "espeak")) == "espeak"
    assert installed(wanting(tmp_path, "auto")) == ["anna", "espeak"]


def test_a_voice_that_is_not_here_is_an_error_that_names_those_that_are(tmp_path: Path) -> None:
    install(tmp_path, "anna")
    with pytest.raises(VoiceError, match=r"no voice `ljspeech`.*anna, espeak"):
        choose(wanting(tmp_path, "ljspeech"))


def test_a_half_fetched_voice_is_not_installed(tmp_path: Path) -> None:
    folder = tmp_path / "models/ljspeech"
    folder.mkdir(parents=True)
    (folder / "en_US-ljspeech-medium.onnx").touch()
    (folder / "en_US-ljspeech-medium.onnx.json").touch()  # but no marker: the fetch was cut
    assert choose(wanting(tmp_path, "auto")) == "espeak"


def test_a_voice_that_is_changed_for_another_is_closed(tmp_path: Path) -> None:
    before = FakeVoice()
    (now, *_) = other(wanting(tmp_path, "auto"), "espeak", [before], logging.getLogger())
    assert now.name == "espeak"
    assert before.closed


@pytest.mark.parametrize("name", ["", "anna", "../espeak"])
def test_a_voice_that_is_not_here_changes_nothing(tmp_path: Path, name: str) -> None:
    voice = FakeVoice()
    before: list[Voice] = [voice]
    assert other(wanting(tmp_path, "auto"), name, before, logging.getLogger()) is before
    assert not voice.closed
