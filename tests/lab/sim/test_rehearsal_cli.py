"""The rehearsal verbs: their settings, and scenes that are all read before one is played."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import SceneError, SettingsError, StorageError
from appliance.settings import load_defaults
from lab.sim import rehearsal_cli, scene
from lab.sim.rehearsal_cli import in_the_room, load_over
from lab.sim.rehearsal_recording import RehearsalRecording
from lab.sim.rehearsal_report import RecordingReader


def test_changes_are_merged_into_the_settings_key_by_key() -> None:
    before = load_over(load_defaults(), {"speaking": {"volume": 0.3}, "mode": "wake_word"})
    after = load_over(before, {"speaking": {"chime": False}})
    assert (after.speaking.volume, after.speaking.chime, after.mode) == (0.3, False, "wake_word")
    assert after.hearing == load_defaults().hearing


@pytest.mark.parametrize("changes", [{"speaking": {"volme": 1}}, {"mode": "loud"}, {"nothing": 1}])
def test_changes_are_checked_like_any_settings(changes: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        load_over(load_defaults(), changes)


@pytest.mark.parametrize(("configured", "expected"), [("header", "none"), ("keyboard", "keyboard")])
def test_a_rehearsal_uses_the_simulated_card_no_broker_and_no_gpio_pins(
    configured: str, expected: str
) -> None:
    mine = load_over(
        load_defaults(),
        {
            "card": {"capture": "plughw:CARD=X"},
            "link": {"broker": "x"},
            "panel": {"gpio": configured},
        },
    )
    found = in_the_room(scene.Scene(), mine)
    assert (found.card.capture, found.card.playback, found.link.broker) == ("sim", "sim", "")
    assert found.panel.gpio == expected


def test_the_settings_of_a_scene_take_precedence() -> None:
    loud = scene.Scene(settings={"speaking": {"volume": 1.0}})
    assert in_the_room(loud, load_defaults()).speaking.volume == 1.0


def test_all_scenes_are_checked_before_the_first_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("owner: [{at_s: 0, say: hello}]\n")
    bad.write_text("owner: [{at_s: 0, sing: hello}]\n")
    with pytest.raises(SceneError, match="sing"):
        rehearsal_cli.rehearse([good, bad], None, load_defaults())
    assert capsys.readouterr().out == ""


def test_a_report_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    reader = RecordingReader(RehearsalRecording(scene.Scene(), load_defaults()), 0)
    with pytest.raises(StorageError, match="cannot be written"):
        rehearsal_cli.write_report(reader, [], tmp_path / "file" / "report")
