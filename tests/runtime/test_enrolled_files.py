"""The files of an enrolled voice: their date, and their removal."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.background_file import write_private
from appliance.runtime import enrolled_files


def test_without_files_no_voice_is_enrolled(tmp_path: Path) -> None:
    assert enrolled_files.enrolled_at(tmp_path) is None
    assert not enrolled_files.is_there(tmp_path)
    assert enrolled_files.forget(tmp_path) == []


def test_a_voice_is_enrolled_from_the_files_date_until_it_is_forgotten(tmp_path: Path) -> None:
    file, folder = tmp_path / enrolled_files.FILE, tmp_path / enrolled_files.FOLDER
    write_private(file, b"numbers")
    assert enrolled_files.enrolled_at(tmp_path) == pytest.approx(file.stat().st_mtime)
    write_private(folder / "wait/a.wav", b"sound")
    assert enrolled_files.forget(tmp_path) == []
    assert list(folder.iterdir()) == []
    assert not enrolled_files.is_there(tmp_path)


def test_recordings_alone_can_be_forgotten(tmp_path: Path) -> None:
    write_private(tmp_path / enrolled_files.FOLDER / "wait/a.wav", b"sound")
    assert enrolled_files.enrolled_at(tmp_path) is None
    assert enrolled_files.is_there(tmp_path)
