"""appliance.files: small files are written atomically and read up to a limit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.atomic_file import read_small, write_whole


@pytest.mark.parametrize("lasting", [True, False])
def test_a_write_replaces_the_file_and_leaves_no_other_file(tmp_path: Path, lasting: bool) -> None:
    file = tmp_path / "a.json"
    for data in (b"old and longer", b"new"):
        write_whole(file, data, lasting=lasting)
    assert file.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [file]


def test_the_file_has_the_requested_mode_whatever_the_umask_and_the_old_mode(
    tmp_path: Path,
) -> None:
    file = tmp_path / "secret"
    file.write_bytes(b"")
    file.chmod(0o666)
    (tmp_path / ".secret.new").write_bytes(b"left by a power cut")
    umask = os.umask(0)
    try:
        write_whole(file, b"x", 0o600)
    finally:
        os.umask(umask)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_reader_with_the_old_file_open_still_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "a"
    write_whole(file, b"old")
    with file.open("rb") as reader:
        write_whole(file, b"new")
        assert reader.read() == b"old"


def test_a_failed_rename_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()  # a rename cannot replace a folder with a file
    with pytest.raises(OSError, match="a"):
        write_whole(tmp_path / "a", b"new")
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "no" / "a", b"new")


def test_a_small_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1234")
    assert read_small(tmp_path / "a", 4) == b"1234"
    with pytest.raises(OSError, match="large"):
        read_small(tmp_path / "a", 3)


@pytest.mark.parametrize("kind", ["fifo", "link", "folder", "device", "nothing"])
def test_anything_but_a_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    (tmp_path / "other").write_bytes(b"1")
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(tmp_path / "other")
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path = Path("/dev/zero")
    with pytest.raises(OSError, match=r"a|zero"):
        read_small(path, 4096)


def test_symlinks_are_followed_only_if_the_caller_allows_them(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"1")
    (tmp_path / "a").symlink_to(tmp_path / "other")
    (tmp_path / "to a FIFO").symlink_to(tmp_path / "fifo")
    os.mkfifo(tmp_path / "fifo")
    assert read_small(tmp_path / "a", 4096, links=True) == b"1"
    with pytest.raises(OSError, match="no regular file"):
        read_small(tmp_path / "to a FIFO", 4096, links=True)


def test_a_file_of_another_user_is_refused_if_an_owner_is_given(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    assert read_small(tmp_path / "a", 4096, owner=os.geteuid()) == b"1"
    with pytest.raises(PermissionError, match="another user"):
        read_small(tmp_path / "a", 4096, owner=os.geteuid() + 1)
