"""appliance.files: a small file is there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.atomic_file import read_small, write_whole


@pytest.mark.parametrize("lasting", [True, False])
def test_the_new_takes_the_place_of_the_old_and_nothing_else_stays(
    tmp_path: Path, lasting: bool
) -> None:
    file = tmp_path / "a.json"
    for data in (b"old and longer", b"new"):
        write_whole(file, data, lasting=lasting)
    assert file.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [file]


def test_the_mode_is_the_one_asked_for_whatever_the_umask_and_the_file_before(
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


def test_a_reader_that_has_the_old_one_open_keeps_it(tmp_path: Path) -> None:
    file = tmp_path / "a"
    write_whole(file, b"old")
    with file.open("rb") as reader:
        write_whole(file, b"new")
        assert reader.read() == b"old"


def test_what_cannot_be_put_in_place_leaves_no_rest(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()  # no file can take a folder's place
    with pytest.raises(OSError, match="a"):
        write_whole(tmp_path / "a", b"new")
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "no" / "a", b"new")


def test_a_small_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1234")
    assert read_small(tmp_path / "a", 4) == b"1234"
    with pytest.raises(OSError, match="large"):
        read_small(tmp_path / "a", 3)


@pytest.mark.parametrize("kind", ["fifo", "link", "folder", "device", "nothing"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "a"
    (tmp_path / "other").write_bytes(b"1")
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "link":
        place.symlink_to(tmp_path / "other")
    elif kind == "folder":
        place.mkdir()
    elif kind == "device":
        place = Path("/dev/zero")
    with pytest.raises(OSError, match=r"a|zero"):
        read_small(place, 4096)


def test_a_link_is_followed_only_for_who_may_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"1")
    (tmp_path / "a").symlink_to(tmp_path / "other")
    (tmp_path / "to a FIFO").symlink_to(tmp_path / "fifo")
    os.mkfifo(tmp_path / "fifo")
    assert read_small(tmp_path / "a", 4096, links=True) == b"1"
    with pytest.raises(OSError, match="no regular file"):
        read_small(tmp_path / "to a FIFO", 4096, links=True)


def test_a_file_of_another_user_is_refused_where_an_owner_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    assert read_small(tmp_path / "a", 4096, owner=os.geteuid()) == b"1"
    with pytest.raises(PermissionError, match="another user"):
        read_small(tmp_path / "a", 4096, owner=os.geteuid() + 1)
