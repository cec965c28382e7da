"""Files that are written in a folder of several users are new, or this user's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.update.partial_file import open_new, open_own


def test_a_new_file_is_written_and_an_own_one_continued(tmp_path: Path) -> None:
    path = tmp_path / "part"
    with open_new(path) as file:
        file.write(b"one ")
    with open_own(path) as file:
        assert file.tell() == 4
        file.write(b"two")
    assert path.read_bytes() == b"one two"


@pytest.mark.parametrize("kind", ["symlink", "dangling symlink", "hard link", "FIFO", "folder"])
def test_what_is_no_file_of_this_user_is_neither_written_nor_waited_for(
    tmp_path: Path, kind: str
) -> None:
    path, other = tmp_path / "part", tmp_path / "other"
    other.write_text("kept")
    match kind:
        case "symlink":
            path.symlink_to(other)
        case "dangling symlink":
            path.symlink_to(tmp_path / "none")
        case "hard link":
            path.hardlink_to(other)
        case "FIFO":
            os.mkfifo(path)
        case _:
            path.mkdir()
    for opens in (open_new, open_own):
        with pytest.raises(OSError, match="part"):
            opens(path)
    assert other.read_text() == "kept"
    assert not (tmp_path / "none").exists()


def test_a_file_that_exists_is_not_opened_as_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_text("kept")
    with pytest.raises(FileExistsError):
        open_new(path)
    assert path.read_text() == "kept"
