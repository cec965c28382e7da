"""The head that belongs to the box's model, and the error if there is none."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from appliance.errors import VoiceError
from appliance.models.model_disk import sha256_of
from appliance.models.store import resolve
from appliance.settings import Settings, load
from appliance.voice import factory
from appliance.voice.head.speech_head import SpeechHead
from appliance.voice.head_weights import MANIFEST, head_folder
from tests import skips
from tests.think.rig import OWN, install, plain_settings


def settings(folder: Path, **thinking: Any) -> Settings:
    return load(None, {"state_dir": str(folder), "thinking": thinking})


def test_the_pocket_models_head_is_in_the_package(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{}")
    assert head_folder(settings(tmp_path), shipped=tmp_path) == tmp_path


def test_the_shipped_head_was_trained_on_the_pocket_models_states(tmp_path: Path) -> None:
    head = SpeechHead(head_folder(settings(tmp_path)))
    assert head.manifest.model == sha256_of(resolve(settings(tmp_path)).text)


@pytest.mark.parametrize("trained_on", ["0" * 64, "pocket"])
def test_a_head_for_another_model_is_refused(tmp_path: Path, trained_on: str) -> None:
    (tmp_path / MANIFEST).write_text(json.dumps({"model": trained_on}))
    with pytest.raises(VoiceError, match=r"states of another model than pocket"):
        head_folder(settings(tmp_path), shipped=tmp_path)


@pytest.mark.parametrize("text", ["", "[]", '{"model": 3}'])
def test_an_invalid_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(VoiceError, match="describes no speech head"):
        head_folder(settings(tmp_path), shipped=tmp_path)


def test_the_error_for_missing_weights_names_the_model(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match=r"the model pocket are missing.*speech-head\.md"):
        head_folder(settings(tmp_path), shipped=tmp_path / "none")


def test_a_model_on_a_server_has_no_head(tmp_path: Path) -> None:
    remote = {"remote": {"url": "http://server:8080/v1", "model": "some"}}
    with pytest.raises(VoiceError, match="server gives no hidden states"):
        head_folder(settings(tmp_path, **remote), shipped=tmp_path)


def test_a_model_that_is_not_installed_has_no_head(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="gemma"):
        head_folder(settings(tmp_path, model="gemma-4-e2b"), shipped=tmp_path)


def test_with_the_head_chosen_the_fallback_voices_are_the_text_voices(tmp_path: Path) -> None:
    head = load(None, {"state_dir": str(tmp_path), "speaking": {"voice": "head"}})
    plain = load(None, {"state_dir": str(tmp_path), "speaking": {"voice": "auto"}})
    assert factory.candidates(head) == factory.candidates(plain)


@pytest.mark.process
def test_without_the_ring_of_states_a_text_voice_speaks_and_the_log_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    head = load(None, {"state_dir": str(tmp_path), "speaking": {"voice": "head"}})
    with caplog.at_level(logging.ERROR):
        voices = factory.load(head, logging.getLogger("speaker"))
    assert "text voice speaks instead" in caplog.text
    assert [voice.name for voice in voices if voice.name == "head"] == []
    for voice in voices:
        voice.close()


def test_a_head_in_the_folder_of_another_user_than_the_models_is_not_used(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip(skips.ROOT_RIGHTS)
    files = tmp_path / "text.gguf", tmp_path / "audio.gguf"
    for file in files:
        file.write_bytes(b"a model")
    chosen = plain_settings(tmp_path, files, model=OWN)
    install(chosen, files)
    own = chosen.models_path() / f"head-{OWN}"
    own.mkdir()
    (own / MANIFEST).write_text("{}")
    assert head_folder(chosen) == own
    os.chown(own, 12345, 12345)
    with pytest.raises(VoiceError, match="are missing"):
        head_folder(chosen)
