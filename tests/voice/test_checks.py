"""`interlude check` of the voices: a voice is ok only if it has made a sound."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance import settings
from appliance.settings import Settings
from appliance.voice import checks
from tests.voice import bundles

pytestmark = pytest.mark.process


def wanting(state_dir: Path, voice: str = "auto") -> Settings:
    return settings.load(
        Path(os.devnull), {"state_dir": str(state_dir), "speaking": {"voice": voice}}
    )


def verdicts(state_dir: Path, voice: str = "auto") -> list[str]:
    return [finding.verdict for finding in checks.voice_findings(wanting(state_dir, voice))]


def test_a_voice_that_says_a_word_is_ok(tmp_path: Path) -> None:
    bundles.fetched(tmp_path, "mine")
    bundles.plant(tmp_path / "voices")
    (found,) = checks.voice_findings(wanting(tmp_path))
    assert found.verdict == "ok"
    assert found.sentence.startswith("mine speaks: its first sound came after 0.")


@pytest.mark.parametrize(("voice", "speaks"), [("auto", "hibari"), ("espeak", "espeak")])
def test_the_included_voices_are_ok(tmp_path: Path, voice: str, speaks: str) -> None:
    (found,) = checks.voice_findings(wanting(tmp_path, voice))
    assert (found.verdict, found.sentence.split(":")[0]) == ("ok", f"{speaks} speaks")


@pytest.mark.parametrize("voice", ["auto", "mine"])
def test_a_voice_without_its_program_is_not_ok(tmp_path: Path, voice: str) -> None:
    bundles.fetched(tmp_path, "mine")
    mute, instead = checks.voice_findings(wanting(tmp_path, voice))
    assert (mute.verdict, instead.verdict) == ("warning", "ok")
    assert instead.sentence.startswith("hibari speaks: ")
    assert voice == "auto" or mute.sentence.endswith("hibari speaks instead.")
    assert "he program that speaks it, piper, is not installed" in mute.sentence
    assert "interlude voices install" in mute.remedy


@pytest.mark.parametrize("voice", ["auto", "mine"])
def test_a_voice_that_is_damaged_is_not_ok(tmp_path: Path, voice: str) -> None:
    bundles.fetched(tmp_path, "mine").write_bytes(b"no network")
    bundles.plant(tmp_path / "voices")
    assert verdicts(tmp_path, voice) == ["warning", "ok"]


def test_a_box_without_any_working_voice_has_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no espeak-ng
    assert verdicts(tmp_path, "espeak") == ["problem"]
    assert verdicts(tmp_path, "auto") == ["ok"]  # hibari does not need espeak-ng
