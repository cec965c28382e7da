"""Each change on the disk leaves either the old or the new state, and none follows a link."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from appliance.update.release.disk_changes import Disk


def test_a_file_gets_its_mode_whatever_the_umask(tmp_path: Path) -> None:
    mask = os.umask(0o077)
    try:
        Disk().write(tmp_path / "open", b"x", 0o644)
        Disk().write(tmp_path / "run", b"x", 0o755)
        Disk().make_folder(tmp_path / "a/b")
    finally:
        os.umask(mask)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("open", "run", "a/b")]
    assert modes == [0o644, 0o755, 0o755]


def test_write_whole_replaces_a_file_and_makes_it_world_readable(
    tmp_path: Path,
) -> None:
    note = tmp_path / "note"
    note.write_text("as it was")
    note.chmod(0o600)
    mask = os.umask(0o077)
    try:
        Disk().write_whole(note, b"new")
    finally:
        os.umask(mask)
    assert (note.read_bytes(), stat.S_IMODE(note.stat().st_mode)) == (b"new", 0o644)
    assert list(tmp_path.iterdir()) == [note]


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("as it was")
    (tmp_path / "link").symlink_to("theirs")
    with pytest.raises(OSError, match="symbolic links"):
        Disk().write(tmp_path / "link", b"x")
    assert (tmp_path / "theirs").read_text() == "as it was"


def test_a_nameless_file_has_no_directory_entry_and_replaces_no_file(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("as it was")
    (tmp_path / "copy").hardlink_to(tmp_path / "theirs")
    with Disk().nameless(tmp_path / "copy") as file:
        file.write(b"ours")
        assert [path.name for path in tmp_path.iterdir()] == ["theirs"]
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
    assert (tmp_path / "theirs").read_text() == "as it was"


def test_a_link_is_replaced_atomically(tmp_path: Path) -> None:
    seen = []

    class Watched(Disk):
        def _done(self) -> None:
            seen.append((tmp_path / "current").readlink().name)

    Disk().link(tmp_path / "current", "old")
    (tmp_path / ".current.new").symlink_to("left over")
    Watched().link(tmp_path / "current", "new")
    assert set(seen) == {"old", "new"}
    assert seen == sorted(seen, reverse=True)  # never back to the old target
    assert [path.name for path in tmp_path.iterdir()] == ["current"]


def test_a_tree_is_never_half_removed_under_its_own_name(tmp_path: Path) -> None:
    tree = tmp_path / "1.0.0"

    class Watched(Disk):
        def _done(self) -> None:
            assert not tree.exists() or len(list(tree.iterdir())) == 3

    tree.mkdir()
    for name in "abc":
        (tree / name).touch()
    (tmp_path / ".1.0.0.gone").mkdir()  # left by an interrupted removal
    Watched().remove_tree(tree)
    assert list(tmp_path.iterdir()) == []


def test_a_hidden_tree_is_removed_under_its_own_name(tmp_path: Path) -> None:
    (tmp_path / ".1.0.0.gone/deep").mkdir(parents=True)
    Disk().remove_tree(tmp_path / ".1.0.0.gone")
    assert list(tmp_path.iterdir()) == []


def test_removing_a_missing_file_is_allowed_and_syncing_a_missing_folder_is_an_error(
    tmp_path: Path,
) -> None:
    Disk().remove(tmp_path / "none")
    Disk().sync(tmp_path)
    with pytest.raises(FileNotFoundError):
        Disk().sync(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        Disk().sync(tmp_path / "file")
    assert Disk().free_bytes(tmp_path) > 0
