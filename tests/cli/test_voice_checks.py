"""The findings of `interlude check` about the voice head: only if it is selected, and with the
reason if it cannot speak."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from appliance.cli.voice_checks import findings, head_finding, real_time_factor
from appliance.errors import ModelError
from appliance.settings import Settings, load
from appliance.voice.head_weights import SHIPPED

pytestmark = pytest.mark.process


def wanting(folder: Path, voice: str, **thinking: object) -> Settings:
    changes = {"state_dir": str(folder), "speaking": {"voice": voice}, "thinking": thinking}
    return load(None, changes)


def test_a_box_whose_model_has_a_head_can_use_it_with_a_text_voice_as_fallback(
    tmp_path: Path,
) -> None:
    head, text = findings(wanting(tmp_path, "head"))
    assert (head.verdict, text.verdict) == ("ok", "ok")
    assert "head fits the model: 0." in head.sentence
    assert "hibari speaks" in text.sentence


def test_with_another_voice_there_is_no_finding_about_the_head(tmp_path: Path) -> None:
    assert ["head" in finding.sentence for finding in findings(wanting(tmp_path, "auto"))] == [
        False
    ]


def test_a_model_on_a_server_is_a_warning(tmp_path: Path) -> None:
    remote = {"url": "http://server:8080/v1", "model": "some"}
    found = head_finding(wanting(tmp_path, "head", remote=remote))
    assert found.verdict == "warning"
    assert "cannot speak. A model on a server gives no hidden states" in found.sentence


def test_a_llama_cpp_without_hidden_states_is_a_warning(tmp_path: Path) -> None:
    found = head_finding(wanting(tmp_path, "head"), lambda: "This build has no function x.")
    assert (found.verdict, found.sentence) == (
        "warning", "The voice head cannot speak. This build has no function x.",
    )  # fmt: skip


def test_the_speed_of_a_damaged_head_is_not_measured(tmp_path: Path) -> None:
    folder = shutil.copytree(SHIPPED, tmp_path / "head")
    assert 0.0 < real_time_factor(folder) < 5.0
    (folder / "frames.onnx").write_bytes(b"no network")
    with pytest.raises(ModelError, match="not the file that"):
        real_time_factor(folder)
