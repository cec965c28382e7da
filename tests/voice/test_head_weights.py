"""Which head this box's model has, and the sentence where it has none."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from appliance.errors import VoiceError
from appliance.models.store import resolve, sha256_of
from appliance.settings import Settings, load
from appliance.voice import factory
from appliance.voice.head.speech_head import SpeechHead
from appliance.voice.head_weights import MANIFEST, head_folder


def settings(folder: Path, **thinking: Any) -> Settings:
    return load(None, {"state_dir": str(folder), "thinking": thinking})


def test_the_pocket_model_s_head_comes_with_the_package(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{}")
    assert head_folder(settings(tmp_path), shipped=tmp_path) == tmp_path


def test_the_head_that_we_ship_learnt_the_pocket_model_s_states(tmp_path: Path) -> None:
    head = SpeechHead(head_folder(settings(tmp_path)))
    assert head.manifest.model == sha256_of(resolve(settings(tmp_path)).text)


@pytest.mark.parametrize("learnt", ["0" * 64, "pocket"])
def test_a_head_for_another_model_is_refused(tmp_path: Path, learnt: str) -> None:
    (tmp_path / MANIFEST).write_text(json.dumps({"model": learnt}))
    with pytest.raises(VoiceError, match=r"states of another model than pocket"):
        head_folder(settings(tmp_path), shipped=tmp_path)


@pytest.mark.parametrize("text", ["", "[]", '{"model": 3}'])
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(VoiceError, match="describes no speech head"):
        head_folder(settings(tmp_path), shipped=tmp_path)


def test_missing_weights_are_said_by_the_model_s_name(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match=r"the model pocket are missing.*speech-head\.md"):
        head_folder(settings(tmp_path), shipped=tmp_path / "none")


def test_a_model_on_a_server_has_no_states(tmp_path: Path) -> None:
    remote = {"remote": {"url": "http://server:8080/v1", "model": "some"}}
    with pytest.raises(VoiceError, match="server gives no hidden states"):
        head_folder(settings(tmp_path, **remote), shipped=tmp_path)


def test_a_model_that_is_not_here_has_no_head_either(tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match="gemma"):
        head_folder(settings(tmp_path, model="gemma-4-e2b"), shipped=tmp_path)


def test_the_voices_beside_the_head_are_those_that_speak_text(tmp_path: Path) -> None:
    head = load(None, {"state_dir": str(tmp_path), "speaking": {"voice": "head"}})
    plain = load(None, {"state_dir": str(tmp_path), "speaking": {"voice": "auto"}})
    assert factory.candidates(head) == factory.candidates(plain)


@pytest.mark.process
def test_a_box_without_the_ring_of_states_speaks_by_text_and_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    head = load(None, {"state_dir": str(tmp_path), "speaking": {"voice": "head"}})
    with caplog.at_level(logging.ERROR):
        voices = factory.load(head, logging.getLogger("speaker"))
    assert "text voice speaks instead" in caplog.text
    assert [voice.name for voice in voices if voice.name == "head"] == []
    for voice in voices:
        voice.close()
