"""Root installs only what was signed, whatever happens to the name or the bytes in the meantime."""

from __future__ import annotations

import os
import random
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import pytest

from appliance.errors import InterludeError, ReleaseRefused
from appliance.update.handed_over_file import CHUNK
from appliance.update.release.disk_changes import Disk
from appliance.update.release.installer import InstallOptions, ReleaseInstaller
from appliance.update.request import install_wanted
from tests.update.release.attacker import (
    KINDS,
    Turncoat,
    evil_tree,
    exchange,
    exchanging,
    overwrite,
)
from tests.update.release.workshop import Bench

LIMIT_S = 10.0  # the longest that an installation may wait

pytestmark = [pytest.mark.process, pytest.mark.timeout(60)]


@pytest.fixture
def incoming(at: Bench, tmp_path: Path) -> Path:
    """The box runs 0.2.0. The folder has the mode that tmpfiles.d gives it: sticky and
    world-writable."""
    at.installer().install(at.shop.make("0.2.0"))
    folder = tmp_path / "incoming"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def large(at: Bench, version: str = "0.3.0") -> Path:
    """A genuine release whose tree does not compress: three of the chunks that are read."""
    tree = at.shop.folder / f"tree-{version}-good"
    tree.mkdir()
    (tree / "noise").write_bytes(random.Random(3).randbytes(5 * CHUNK // 2))
    return at.shop.make(version)


def genuine(at: Bench, version: str) -> bool:
    """Whether the installed release has exactly the files that were packed, byte for byte."""
    packed, there = at.shop.folder / f"tree-{version}-good", at.store.folder(version)
    names = {path.relative_to(packed) for path in packed.rglob("*")}
    found = {path.relative_to(there) for path in there.rglob("*")}
    kept = {Path("release.json"), Path("release.json.sig")}
    return found == names | kept and all(
        (there / name).read_bytes() == (packed / name).read_bytes()
        for name in names
        if (packed / name).is_file()
    )


# ── the name ─────────────────────────────────────────────────────────────────────────────────
def test_a_fifo_that_becomes_a_link_installs_nothing_unsigned(at: Bench, incoming: Path) -> None:
    """Opening the FIFO blocks root until the link is there, and the target of the link changes
    after the check. When the copy was made by name, the unsigned tree was installed and would have
    run as root."""
    file, name = large(at), incoming / "x.release"
    mine = Path(shutil.copy(file, incoming / "mine"))
    os.mkfifo(name)
    (incoming / "wanted").write_text("x.release")
    done = threading.Event()

    def attack() -> None:
        writer = -1
        while writer < 0 and not done.is_set():
            with suppress(OSError):  # ENXIO: no reader yet
                writer = os.open(name, os.O_WRONLY | os.O_NONBLOCK)
            time.sleep(0.001)
        if writer >= 0:
            (incoming / "link").symlink_to(mine)
            (incoming / "link").rename(name)
            os.close(writer)

    at.box = Turncoat(at.store, runs="0.2.0", act=lambda: overwrite(mine))
    attacker = threading.Thread(target=attack)
    attacker.start()
    try:
        with pytest.raises(ReleaseRefused):
            install_wanted(at.installer(), InstallOptions(), incoming)
    finally:
        done.set()
        attacker.join()
    assert at.store.kept() == "0.2.0"
    assert not at.store.folder("0.3.0").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_another_kind_is_refused_at_once(at: Bench, incoming: Path, kind: str) -> None:
    KINDS[kind](incoming / "x.release")
    (incoming / "wanted").write_text("x.release")
    began = time.monotonic()
    with pytest.raises(ReleaseRefused):
        install_wanted(at.installer(), InstallOptions(), incoming)
    with pytest.raises(ReleaseRefused):
        at.installer().install(incoming / "x.release")
    assert time.monotonic() - began < LIMIT_S
    assert at.store.kept() == "0.2.0"


def test_exchanging_the_name_after_the_open_changes_nothing(at: Bench, incoming: Path) -> None:
    file = Path(shutil.copy(large(at), incoming / "x.release"))
    other = Path(shutil.copy(at.shop.make("0.4.0"), incoming / "other"))
    (incoming / "wanted").write_text("x.release")
    at.box = Turncoat(at.store, runs="0.2.0", act=lambda: exchange(file, other))
    assert install_wanted(at.installer(), InstallOptions(), incoming)
    assert at.store.kept() == "0.3.0"
    assert genuine(at, "0.3.0")
    assert file.exists()  # the name is another file now, which was not installed


# ── the bytes ────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("share", [0.31, 1.0])
def test_a_file_that_changes_after_it_was_read_is_installed_as_it_was_read(
    at: Bench, incoming: Path, share: float
) -> None:
    file = Path(shutil.copy(large(at), incoming / "x.release"))
    acted: list[float] = []

    def progress(step: str, done: float) -> None:
        if step == "verify" and done >= share and not acted:
            overwrite(file)
            acted.append(done)

    assert ReleaseInstaller(at.store, at.box, at.shop.signers, progress).install(file)
    assert acted
    assert genuine(at, "0.3.0")


def test_a_file_that_changes_before_it_is_read_is_refused(at: Bench, incoming: Path) -> None:
    file = Path(shutil.copy(large(at), incoming / "x.release"))
    at.box = Turncoat(at.store, runs="0.2.0", act=lambda: overwrite(file))
    with pytest.raises(ReleaseRefused, match="changed after it was signed"):
        at.installer().install(file)
    assert [path.name for path in at.store.releases.iterdir()] == ["0.2.0"]


@pytest.mark.parametrize("left", [0, 100_000])
def test_a_file_that_becomes_shorter_is_refused(at: Bench, incoming: Path, left: int) -> None:
    file = Path(shutil.copy(large(at), incoming / "x.release"))
    at.box = Turncoat(at.store, runs="0.2.0", act=lambda: os.truncate(file, left))
    with pytest.raises(ReleaseRefused, match="became shorter"):
        at.installer().install(file)
    assert [path.name for path in at.store.releases.iterdir()] == ["0.2.0"]


class OpenHanded(Disk):
    """Changes the copy between the check and the unpacking, which no other process could do."""

    def __init__(self, act: Callable[[BinaryIO], None]) -> None:
        self._act, self.copy = act, None

    copy: BinaryIO | None

    def nameless(self, path: Path) -> BinaryIO:
        self.copy = super().nameless(path)
        assert not os.path.lexists(path)
        return self.copy

    def make_folder(self, path: Path) -> None:
        super().make_folder(path)
        if path.name.endswith(".part") and self.copy is not None:
            self._act(self.copy)


def evil_front(copy: BinaryIO) -> None:
    copy.seek(0)
    copy.write(evil_tree())
    copy.flush()


def one_bit_at_the_end(copy: BinaryIO) -> None:
    copy.seek(-1, os.SEEK_END)
    last = copy.read(1)[0]
    copy.seek(-1, os.SEEK_END)
    copy.write(bytes([last ^ 1]))
    copy.flush()


def one_more_byte(copy: BinaryIO) -> None:
    copy.seek(0, os.SEEK_END)
    copy.write(b"\0")
    copy.flush()


@pytest.mark.parametrize("act", [evil_front, one_bit_at_the_end, one_more_byte])
def test_an_unpacked_tree_is_kept_only_if_its_copy_did_not_change_after_the_check(
    at: Bench, incoming: Path, act: Callable[[BinaryIO], None]
) -> None:
    disk = OpenHanded(act)
    with pytest.raises(ReleaseRefused, match=r"changed after it was signed|cannot be read"):
        at.installer(disk).install(large(at))
    assert disk.copy is not None
    assert [path.name for path in at.store.releases.iterdir()] == ["0.2.0"]


# ── names and bytes, all the time ────────────────────────────────────────────────────────────
def test_random_exchanges_never_install_anything_unsigned(
    at: Bench, incoming: Path, tmp_path: Path
) -> None:
    """For longer, and as another user, in image/test/test_exchange.py."""
    installed, refused = install_while_it_is_exchanged(at, incoming, tmp_path, seconds=1.0)
    assert installed
    assert refused


def install_while_it_is_exchanged(
    at: Bench, incoming: Path, scratch: Path, seconds: float
) -> tuple[int, int]:
    """Return how many installations succeeded and how many were refused; each at least once.

    Every installation ends within its limit, what is installed was signed and belongs to root, and
    the files that the attacker's links point to do not change.
    """
    canary, file = scratch / "canary", at.shop.make("0.3.0", files=60)
    canary.write_text("root's own")
    canary.chmod(0o600)
    was = canary.stat()
    before = scratch / "before"
    shutil.copytree(at.store.root, before, symlinks=True)
    installed = refused = 0
    ends = time.monotonic() + seconds
    with exchanging(incoming, file, canary):
        while time.monotonic() < ends or not (installed and refused):
            began = time.monotonic()
            assert began < ends + 30.0, "nothing was installed, or nothing refused"
            try:
                installed += install_wanted(at.installer(), InstallOptions(), incoming)
            except InterludeError:
                refused += 1
            assert time.monotonic() - began < LIMIT_S
            for version in ("0.2.0", "0.3.0"):
                assert genuine(at, version) or not at.store.folder(version).exists()
            assert {path.lstat().st_uid for path in at.store.root.rglob("*")} == {os.geteuid()}
            if at.store.kept() == "0.3.0":
                shutil.rmtree(at.store.root)
                shutil.copytree(before, at.store.root, symlinks=True)
    now = canary.stat()
    assert canary.read_text() == "root's own"
    assert (now.st_ino, now.st_mode, now.st_uid, now.st_mtime_ns, now.st_ctime_ns) == (
        was.st_ino, was.st_mode, was.st_uid, was.st_mtime_ns, was.st_ctime_ns,
    )  # fmt: skip
    return installed, refused
