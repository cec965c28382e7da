"""The files of an enrolled voice: their date, and their removal."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.runtime import enrolled_files


def test_without_files_no_voice_is_enrolled(tmp_path: Path) -> None:
    assert enrolled_files.enrolled_at(tmp_path) is None
    assert not enrolled_files.is_there(tmp_path)
    assert enrolled_files.forget(tmp_path) == []


def test_a_voice_is_enrolled_from_the_files_date_until_it_is_forgotten(tmp_path: Path) -> None:
    file, folder = tmp_path / enrolled_files.FILE, tmp_path / enrolled_files.RECORDINGS
    file.write_bytes(b"numbers")
    assert enrolled_files.enrolled_at(tmp_path) == pytest.approx(file.stat().st_mtime)
    folder.mkdir()
    (folder / "wait.wav").write_bytes(b"sound")
    assert enrolled_files.forget(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_recordings_alone_can_be_forgotten(tmp_path: Path) -> None:
    (tmp_path / enrolled_files.RECORDINGS).mkdir()
    assert enrolled_files.enrolled_at(tmp_path) is None
    assert enrolled_files.is_there(tmp_path)
