"""Folders that only their owner may change: created if missing, never reached through a link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.provision.root_owned_folder import own_folder
from appliance.update.release.disk_changes import Disk

DEEP = Path("etc/interlude/secrets")


def test_missing_folders_are_created_with_their_modes(tmp_path: Path) -> None:
    base = tmp_path / "root"
    with own_folder(base, DEEP, Disk(), {"etc/interlude/secrets": 0o700}) as folder:
        (folder / "key").write_text("x")
    assert (base / DEEP / "key").read_text() == "x"
    modes = [(base / part).stat().st_mode & 0o777 for part in (DEEP, DEEP.parent)]
    assert modes == [0o700, 0o755]


def test_the_mode_of_an_existing_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir(mode=0o750)
    with own_folder(tmp_path, Path("etc"), Disk(), {"etc": 0o700}):
        pass
    assert (tmp_path / "etc").stat().st_mode & 0o777 == 0o750


def test_the_base_folder_itself_can_be_opened(tmp_path: Path) -> None:
    with own_folder(tmp_path, Path(), Disk()) as folder:
        assert folder.samefile(tmp_path)


def test_a_folder_that_is_exchanged_after_the_open_stays_the_opened_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "etc").mkdir()
    with own_folder(tmp_path, Path("etc"), Disk()) as folder:
        (tmp_path / "etc").rename(tmp_path / "old")
        (tmp_path / "trap").mkdir()
        (tmp_path / "etc").symlink_to("trap")
        (folder / "file").touch()
    assert (tmp_path / "old/file").exists()
    assert list((tmp_path / "trap").iterdir()) == []


@pytest.mark.parametrize("lay", ["link", "file", "dead link"])
def test_a_file_or_link_is_reported_and_not_entered(tmp_path: Path, lay: str) -> None:
    place = tmp_path / "etc"
    if lay == "file":
        place.touch()
    else:
        place.symlink_to(tmp_path if lay == "link" else "nowhere")
    before = sorted(tmp_path.iterdir())
    with (
        pytest.raises(StorageError, match="etc is no folder, or a link"),
        own_folder(tmp_path, DEEP, Disk()),
    ):
        pass
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_nothing_is_written_into_a_folder_that_others_may_change(tmp_path: Path, mode: int) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc").chmod(mode)
    with (
        pytest.raises(StorageError, match="by another user"),
        own_folder(tmp_path, DEEP, Disk()),
    ):
        pass
    assert list((tmp_path / "etc").iterdir()) == []


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    with own_folder(tmp_path, DEEP, Disk()) as folder:
        fd = int(folder.name)
        os.fstat(fd)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)
