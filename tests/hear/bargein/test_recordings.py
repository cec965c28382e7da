"""Recordings in folders: the folder's name gives the class, and unusable files are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import RecordingError
from appliance.hear.bargein.recordings import find, kind_of
from tests.recorded_clips import word, write


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("yes", "backchannel"), ("Mm-hm", "backchannel"), ("uh-huh", "backchannel"),
        ("backchannel", "backchannel"), ("I see", "backchannel"), ("stop", "interruption"),
        ("interruption", "interruption"), ("commands", "interruption"), ("left", "interruption"),
        ("cough", "noise"), ("noise", "noise"), ("television", "television"),
    ],
)  # fmt: skip
def test_a_folders_name_gives_the_class(folder: str, kind: str) -> None:
    assert kind_of(folder) == kind


def test_a_long_noise_is_background_and_a_long_word_stays_a_word() -> None:
    assert kind_of("noise", 90.0) == "background"
    assert kind_of("vacuum cleaner", 90.0) == "background"
    assert kind_of("vacuum cleaner", 3.0) == "noise"
    assert kind_of("yes", 90.0) == "backchannel"


def test_folders_are_read_at_any_depth_in_sorted_order(tmp_path: Path) -> None:
    write(tmp_path / "words" / "yes" / "anna_0.flac", word())
    write(tmp_path / "stop" / "ben_1.wav", word())
    (tmp_path / "README.md").write_text("what this is")
    found = find(tmp_path)
    assert [s.name for s in found.sources] == ["stop/ben_1", "yes/anna_0"]
    assert [s.speaker for s in found.sources] == ["ben", "anna"]
    assert [s.name for s in found.of("backchannel")] == ["yes/anna_0"]
    assert found.problems == ()


def test_the_folder_of_a_single_word_can_be_read_directly(tmp_path: Path) -> None:
    write(tmp_path / "yes" / "anna_0.flac", word())
    assert [s.kind for s in find(tmp_path / "yes").sources] == ["backchannel"]


@pytest.mark.parametrize("folder", ["gone", "empty", "file"])
def test_a_folder_without_sounds_raises_an_error_that_names_it(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(RecordingError, match=folder):
        find(tmp_path / folder)


def test_a_broken_file_does_not_affect_the_others(tmp_path: Path) -> None:
    write(tmp_path / "yes" / "anna_0.flac", word())
    (tmp_path / "yes" / "ben_0.flac").write_bytes(b"no sound")
    write(tmp_path / "loose.flac", word())
    found = find(tmp_path)
    assert len(found.sources) == 1
    assert len(found.problems) == 2
    assert any("ben_0.flac" in problem for problem in found.problems)
