"""The description of each voice: its language, licence and size."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.settings import load
from appliance.voice.description import UNKNOWN, descriptions, piper_language
from tests.voice.bundles import plant


def test_the_included_voices_have_licence_and_size(tmp_path: Path) -> None:
    hibari, espeak, head = descriptions(load(None, {"state_dir": str(tmp_path)}))
    assert (hibari.language, hibari.licence) == ("en_US", "Apache-2.0")
    assert espeak.licence == "GPL-3.0-or-later"
    assert (head.name, head.spoken_by, head.licence) == ("head", "head", "Apache-2.0")
    assert head.size_bytes is not None
    assert 5e6 < head.size_bytes < 20e6
    assert hibari.size_bytes is not None
    assert 10e6 < hibari.size_bytes < 25e6


def test_an_owners_voice_comes_first_with_an_unknown_licence(tmp_path: Path) -> None:
    folder = tmp_path / "models/anna"
    folder.mkdir(parents=True)
    (folder / "x.onnx").write_bytes(b"12345")
    (folder / "x.onnx.json").write_text('{"language": {"code": "de_DE"}}')
    plant(tmp_path / "voices")
    anna, *others = descriptions(load(None, {"state_dir": str(tmp_path)}))
    assert anna == ("anna", "piper 0.1.0", "the models", "de_DE", UNKNOWN, 5)
    assert [voice.name for voice in others] == ["hibari", "espeak", "head"]


@pytest.mark.parametrize(
    ("config", "language"),
    [
        ('{"language": {"code": "en_GB"}, "espeak": {"voice": "en"}}', "en_GB"),
        ('{"espeak": {"voice": "fr"}}', "fr"),
        ("{}", ""),
        ("[]", ""),
        ("no json", ""),
    ],
)
def test_the_language_of_a_piper_voice_is_read_from_its_file(
    tmp_path: Path, config: str, language: str
) -> None:
    (tmp_path / "x.onnx.json").write_text(config)
    assert piper_language(tmp_path / "x.onnx") == language
    assert piper_language(tmp_path / "gone.onnx") == ""


def test_a_head_without_weights_for_the_model_has_a_reason(tmp_path: Path) -> None:
    plain = {"state_dir": str(tmp_path), "thinking": {"remote": {"url": "http://10.0.0.9:8080"}}}
    *_, head = descriptions(load(None, plain))
    assert head.spoken_by.startswith("nothing: A model on a server gives no hidden states")
    assert (head.licence, head.size_bytes) == (UNKNOWN, None)
