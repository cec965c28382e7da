"""What is not brought again by itself is noted by root, read by everybody, and forgiven when it is
kept."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from appliance.errors import HealthCheckFailed
from appliance.update.release.archive import RELEASE
from appliance.update.release.disk_changes import Disk
from appliance.update.release.installer import InstallOptions
from appliance.update.release.rejected import (
    MOST,
    NOTE,
    RejectedRelease,
    find,
    forgive,
    is_newer,
    reject,
)
from tests.update.release.workshop import MADE_S, Bench

DAMAGED = (b"", b"[", b"\xff", b"[" * 9999, b'{"releases": 1}', b'{"releases": [{"version": "1"}]}')


def noted(root: Path, *versions: str) -> list[str]:
    """Those of them that are noted below `root`."""
    return [version for version in versions if find(root, version)]


class DeafDisk(Disk):
    """A disk that takes no note."""

    def write_whole(self, path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))


# ── the note
def test_what_is_noted_of_a_version_is_found_by_it_and_replaced_by_what_is_noted_later(
    tmp_path: Path,
) -> None:
    failed, returned = (
        RejectedRelease("0.3.0", "failed", "a" * 64),
        RejectedRelease("0.3.0", "returned", "b" * 64),
    )
    reject(tmp_path, failed, Disk())
    assert find(tmp_path, "0.3.0") == failed
    assert find(tmp_path, "0.3.1") is None
    reject(tmp_path, returned, Disk())
    assert find(tmp_path, "0.3.0") == returned
    assert stat.S_IMODE((tmp_path / NOTE).stat().st_mode) == 0o644


@pytest.mark.parametrize("data", DAMAGED)
def test_a_damaged_note_says_nothing_and_is_replaced(tmp_path: Path, data: bytes) -> None:
    (tmp_path / NOTE).write_bytes(data)
    assert find(tmp_path, "1") is None
    forgive(tmp_path, "0.3.0", Disk())
    reject(tmp_path, RejectedRelease("0.3.0", "failed"), Disk())
    assert noted(tmp_path, "0.3.0") == ["0.3.0"]


def test_what_is_kept_is_forgiven_with_all_that_is_older(tmp_path: Path) -> None:
    forgive(tmp_path, "0.3.0", Disk())
    assert not (tmp_path / NOTE).exists()
    versions = ("0.2.0", "0.10.0", "0.3.0", "0.3.0rc1", "no version")
    for version in versions:
        reject(tmp_path, RejectedRelease(version, "failed"), Disk())
    forgive(tmp_path, "0.2.0rc1", Disk())
    assert noted(tmp_path, *versions) == ["0.2.0", "0.10.0", "0.3.0", "0.3.0rc1"]
    forgive(tmp_path, "0.3.0", Disk())
    assert noted(tmp_path, *versions) == ["0.10.0"]


def test_no_more_is_noted_than_the_last_few(tmp_path: Path) -> None:
    for number in range(MOST + 2):
        reject(tmp_path, RejectedRelease(f"0.{number}.0", "failed"), Disk())
    assert noted(tmp_path, "0.0.0", "0.1.0", "0.2.0", f"0.{MOST + 1}.0") == [
        "0.2.0",
        f"0.{MOST + 1}.0",
    ]


def test_what_is_no_version_is_newer_than_nothing() -> None:
    assert is_newer("0.10.0", "0.2.0")
    assert not is_newer("0.2.0", "0.2.0")
    assert not is_newer("x", "0.2.0")
    assert not is_newer("0.2.0", "x")


# ── who writes it
@pytest.mark.process
def test_the_tree_is_told_by_what_its_manifest_says(at: Bench) -> None:
    at.installer().install(at.shop.make("0.1.0"))
    file = at.shop.make("0.2.0", "hangs")
    said = RELEASE.peek(file)
    with pytest.raises(HealthCheckFailed):
        at.installer().install(file)
    found = find(at.store.root, "0.2.0")
    assert found is not None
    assert said is not None
    assert (found.why, found.tree_sha256) == ("failed", said.tree_sha256)
    again = at.shop.make("0.2.0", "hangs", made_s=MADE_S + 1)
    assert found.is_tree_of(RELEASE.peek(again))
    assert not found.is_tree_of(RELEASE.peek(at.shop.make("0.2.0")))
    assert found.is_tree_of(None)
    assert RejectedRelease("0.2.0", "returned").is_tree_of(said)


@pytest.mark.process
def test_only_what_is_newer_than_what_is_gone_back_to_is_noted(at: Bench) -> None:
    for version in ("0.1.0", "0.2.0"):
        at.installer().install(at.shop.make(version))
    assert not (at.store.root / NOTE).exists()
    assert at.installer().rollback() == "0.1.0"
    found = find(at.store.root, "0.2.0")
    assert found is not None
    assert found.why == "returned"
    assert at.installer().rollback() == "0.2.0"  # and forth
    assert noted(at.store.root, "0.1.0", "0.2.0") == []


@pytest.mark.process
def test_a_way_back_that_fails_is_no_way_back(at: Bench) -> None:
    at.installer().install(at.shop.make("0.1.0", "crashes"), InstallOptions(start=False))
    at.installer().install(at.shop.make("0.2.0"))
    with pytest.raises(HealthCheckFailed):
        at.installer().rollback()
    assert noted(at.store.root, "0.1.0", "0.2.0") == ["0.1.0"]


@pytest.mark.process
def test_a_card_that_takes_no_note_keeps_the_box_from_nothing(at: Bench) -> None:
    at.installer().install(at.shop.make("0.1.0"))
    with pytest.raises(HealthCheckFailed, match=r"back on 0\.1\.0, and well"):
        at.installer(DeafDisk()).install(at.shop.make("0.2.0", "crashes"))
    assert (at.box.runs, at.store.on_trial()) == ("0.1.0", None)
    at.installer().install(at.shop.make("0.3.0"))
    assert at.installer(DeafDisk()).rollback() == "0.1.0"
    assert at.store.kept() == "0.1.0"
    reject(at.store.root, RejectedRelease("0.4.0", "failed"), Disk())
    assert at.installer(DeafDisk()).install(at.shop.make("0.4.0"))
    assert at.store.kept() == "0.4.0"
