"""Records in files: complete ones are read, and damaged ones never raise."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from appliance.record_file import MOST_BYTES, load_record, read_record


class Light(msgspec.Struct, frozen=True):
    colour: str
    share: float = 1.0


def test_a_complete_record_is_read(tmp_path: Path) -> None:
    file = tmp_path / "light.json"
    file.write_bytes(b'{"colour": "green", "unknown": [1]}')
    assert read_record(file, Light) == Light("green")
    assert load_record(file, Light) == (Light("green"), "")
    file.write_bytes(b'[["a", 1.5]]')
    assert read_record(file, list[tuple[str, float]]) == [("a", 1.5)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 40,  # as left by a file system after a power cut
        b'{"colour": "gre',
        b'{"colour": 5}',
        b'{"colour": "\xff"}',
        b'{"unknown": ' + b"[" * 60_000,
    ],
)
def test_a_damaged_record_is_none_with_a_problem(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "light.json"
    file.write_bytes(data)
    assert read_record(file, Light) is None
    assert load_record(file, Light) == (None, f"{file} is damaged")


def test_a_missing_file_is_no_problem(tmp_path: Path) -> None:
    assert load_record(tmp_path / "light.json", Light) == (None, "")
    assert load_record(tmp_path / "no-folder/light.json", Light) == (None, "")


def test_links_folders_fifos_and_large_files_are_refused(tmp_path: Path) -> None:
    good = b'{"colour": "green"}'
    (tmp_path / "good").write_bytes(good)
    (tmp_path / "link").symlink_to(tmp_path / "good")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large").write_bytes(good + b" " * MOST_BYTES)
    for name in ("link", "folder", "fifo", "large"):
        record, problem = load_record(tmp_path / name, Light)
        assert record is None
        assert problem.startswith(f"{tmp_path / name} cannot be read (")
    assert read_record(tmp_path / "good", Light, len(good)) == Light("green")
    assert read_record(tmp_path / "good", Light, len(good) - 1) is None
