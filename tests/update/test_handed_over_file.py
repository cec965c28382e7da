"""A handed-over file is checked before it is read, and no check blocks."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.errors import ReleaseRefused, StorageError
from appliance.update.handed_over_file import (
    NOTE_BYTES,
    HandedOverFile,
    open_handed_over,
    pop_note,
    write_note,
)
from tests.update.release.attacker import KINDS, STRANGER, exchange

MOST = 1000
AT_ONCE_S = 2.0

pytestmark = [pytest.mark.process, pytest.mark.timeout(30)]


def file(folder: Path, data: bytes = b"content", name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


# ── files ────────────────────────────────────────────────────────────────────────────────────
def test_a_regular_file_is_read_from_any_offset(tmp_path: Path) -> None:
    with HandedOverFile(file(tmp_path, bytes(range(100))), MOST) as handed:
        assert (handed.name, handed.size) == ("file", 100)
        assert handed.read(90, 10) == bytes(range(90, 100))
        assert [len(chunk) for chunk in handed.chunks(10, 85, 40)] == [40, 40, 5]
        assert b"".join(handed.chunks(10, 85, 40)) == bytes(range(10, 95))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "an empty file"])
def test_a_file_of_another_kind_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "file")
    began = time.monotonic()
    with pytest.raises(ReleaseRefused, match="file"):
        HandedOverFile(tmp_path / "file", MOST)
    assert time.monotonic() - began < AT_ONCE_S


def test_a_link_to_a_regular_file_is_refused_as_a_link(tmp_path: Path) -> None:
    file(tmp_path)
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(ReleaseRefused, match="link is a link"):
        HandedOverFile(tmp_path / "link", MOST)


@pytest.mark.parametrize(("size", "fits"), [(MOST, True), (MOST + 1, False)])
def test_a_size_above_the_limit_is_refused(tmp_path: Path, size: int, fits: bool) -> None:
    path = file(tmp_path, bytes(size))
    if fits:
        HandedOverFile(path, MOST).close()
    else:
        with pytest.raises(ReleaseRefused, match="at most"):
            HandedOverFile(path, MOST)


def test_a_file_under_a_lease_is_refused_without_waiting(tmp_path: Path) -> None:
    """A lease blocks open(2) for /proc/sys/fs/lease-break-time seconds, by default 45 s."""
    path = file(tmp_path)
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGIO, signal.SIG_IGN)
            fd = os.open(path, os.O_RDWR)
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            os.write(tell, b"leased")
            while True:
                signal.pause()
        finally:
            os._exit(4)
    os.close(tell)
    try:
        if os.read(ready, 6) != b"leased":
            pytest.skip("this file system has no leases")
        began = time.monotonic()
        with pytest.raises(ReleaseRefused, match="cannot be read"):
            HandedOverFile(path, MOST)
        assert time.monotonic() - began < AT_ONCE_S
    finally:
        os.close(ready)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_the_file_is_read_by_descriptor_and_not_by_name(tmp_path: Path) -> None:
    first, second = file(tmp_path, b"one"), file(tmp_path, b"other", "other")
    with HandedOverFile(first, MOST) as handed:
        exchange(first, second)
        assert handed.read(0, handed.size) == b"one"


def test_a_file_that_became_shorter_is_refused(tmp_path: Path) -> None:
    path = file(tmp_path)
    with HandedOverFile(path, MOST) as handed:
        os.truncate(path, 3)
        with pytest.raises(ReleaseRefused, match="became shorter"):
            handed.read(0, handed.size)


def test_child_processes_do_not_inherit_the_descriptor(tmp_path: Path) -> None:
    with HandedOverFile(file(tmp_path), MOST):
        listed = subprocess.run(
            ["ls", "-l", "/proc/self/fd"],
            capture_output=True,
            text=True,
            check=True,
            close_fds=False,
        )  # fmt: skip
    assert str(tmp_path) not in listed.stdout


def test_a_file_that_is_already_open_is_not_closed(tmp_path: Path) -> None:
    with HandedOverFile(file(tmp_path), MOST) as handed:
        with open_handed_over(handed, MOST) as same:
            assert same is handed
        assert handed.read(0, 1) == b"c"


def test_remove_unlinks_the_name_only_if_it_still_is_the_same_file(tmp_path: Path) -> None:
    mine = file(tmp_path)
    with HandedOverFile(mine, MOST) as handed:
        other = file(tmp_path, b"another", "other")
        exchange(mine, other)
        handed.remove()
        assert mine.read_bytes() == b"another"
        exchange(mine, other)
        handed.remove()
        assert not mine.exists()
        mine.mkdir()
        handed.remove()
        assert mine.is_dir()


# ── notes ────────────────────────────────────────────────────────────────────────────────────
def test_a_note_is_read_once(tmp_path: Path) -> None:
    write_note(tmp_path / "wanted", "a.release")
    assert pop_note(tmp_path / "wanted") == "a.release"
    assert pop_note(tmp_path / "wanted") == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_note_of_another_kind_counts_as_empty_and_is_removed(tmp_path: Path, kind: str) -> None:
    KINDS[kind](tmp_path / "wanted")
    began = time.monotonic()
    assert pop_note(tmp_path / "wanted") == ""
    assert time.monotonic() - began < AT_ONCE_S
    assert not os.path.lexists(tmp_path / "wanted")


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * (NOTE_BYTES + 1)])
def test_a_note_that_is_no_short_text_counts_as_empty_and_is_removed(
    tmp_path: Path, data: bytes
) -> None:
    file(tmp_path, data, "wanted")
    assert pop_note(tmp_path / "wanted") == ""
    assert list(tmp_path.iterdir()) == []


def test_a_full_folder_in_place_of_a_note_is_renamed_in_one_step(tmp_path: Path) -> None:
    """Emptying it would take as long as its owner keeps filling it."""
    for _ in range(2):  # the first one does not prevent the second
        (tmp_path / "wanted/deep/er").mkdir(parents=True)
        assert pop_note(tmp_path / "wanted") == ""
    left = [path.name for path in tmp_path.iterdir()]
    assert len(left) == 2
    assert all(name.startswith(".wanted.refused-") for name in left)


def test_a_note_that_cannot_be_removed_is_reported() -> None:
    with pytest.raises(StorageError, match="ostype cannot be removed"):
        pop_note(Path("/proc/sys/kernel/ostype"))


def test_a_new_note_is_world_readable_and_replaces_the_old_one(tmp_path: Path) -> None:
    note = tmp_path / "wanted"
    write_note(note, "first")
    write_note(note, "second")
    assert stat.S_IMODE(note.stat().st_mode) == 0o644
    assert [path.read_text() for path in tmp_path.iterdir()] == ["second"]


@pytest.fixture
def sticky() -> Iterator[Path]:
    """A folder that every user can enter, unlike the folder of a test."""
    with tempfile.TemporaryDirectory(prefix="interlude-test-") as folder:
        Path(folder).chmod(0o1777)
        yield Path(folder)


def test_files_of_another_user_in_a_sticky_folder_do_not_prevent_a_request(sticky: Path) -> None:
    """Except for a note of the same name by that user, which is itself a request."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to be two users")
    for name in (".wanted.new", "wanted-system"):
        os.chown(file(sticky, b"theirs", name), STRANGER, STRANGER)
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresuid(STRANGER + 1, STRANGER + 1, STRANGER + 1)
            write_note(sticky / "wanted", "mine")
            try:
                write_note(sticky / "wanted-system", "mine")
            except PermissionError:
                os._exit(0)
        finally:
            os._exit(4)
    assert os.waitpid(child, 0)[1] == 0
    assert {path.name: path.read_text() for path in sticky.iterdir()} == {
        ".wanted.new": "theirs", "wanted": "mine", "wanted-system": "theirs",
    }  # fmt: skip
