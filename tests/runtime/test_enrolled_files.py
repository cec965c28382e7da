"""What is kept of an enrolled voice: since when, and gone when it is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.runtime import enrolled_files


def test_nobody_is_enrolled_where_nothing_lies(tmp_path: Path) -> None:
    assert enrolled_files.enrolled_at(tmp_path) is None
    assert not enrolled_files.is_there(tmp_path)
    assert enrolled_files.forget(tmp_path) == []


def test_somebody_is_since_the_file_was_written_and_until_it_is_forgotten(tmp_path: Path) -> None:
    file, folder = tmp_path / enrolled_files.FILE, tmp_path / enrolled_files.RECORDINGS
    file.write_bytes(b"numbers")
    assert enrolled_files.enrolled_at(tmp_path) == pytest.approx(file.stat().st_mtime)
    folder.mkdir()
    (folder / "wait.wav").write_bytes(b"sound")
    assert enrolled_files.forget(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_recordings_alone_are_something_to_be_forgotten(tmp_path: Path) -> None:
    (tmp_path / enrolled_files.RECORDINGS).mkdir()
    assert enrolled_files.enrolled_at(tmp_path) is None
    assert enrolled_files.is_there(tmp_path)
