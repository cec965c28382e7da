"""Root records which releases are not to be fetched again automatically. Every user may read the
record, and a release that is kept is removed from it."""

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
    """The given versions that are recorded below `root`."""
    return [version for version in versions if find(root, version)]


class ReadOnlyDisk(Disk):
    """A disk that fails every write of a note."""

    def write_whole(self, path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))


# ── the note
def test_a_recorded_rejection_is_found_by_version_and_replaced_by_a_later_one(
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
def test_a_damaged_note_is_ignored_and_replaced(tmp_path: Path, data: bytes) -> None:
    (tmp_path / NOTE).write_bytes(data)
    assert find(tmp_path, "1") is None
    forgive(tmp_path, "0.3.0", Disk())
    reject(tmp_path, RejectedRelease("0.3.0", "failed"), Disk())
    assert noted(tmp_path, "0.3.0") == ["0.3.0"]


def test_keeping_a_release_forgives_it_and_all_older_ones(tmp_path: Path) -> None:
    forgive(tmp_path, "0.3.0", Disk())
    assert not (tmp_path / NOTE).exists()
    versions = ("0.2.0", "0.10.0", "0.3.0", "0.3.0rc1", "no version")
    for version in versions:
        reject(tmp_path, RejectedRelease(version, "failed"), Disk())
    forgive(tmp_path, "0.2.0rc1", Disk())
    assert noted(tmp_path, *versions) == ["0.2.0", "0.10.0", "0.3.0", "0.3.0rc1"]
    forgive(tmp_path, "0.3.0", Disk())
    assert noted(tmp_path, *versions) == ["0.10.0"]


def test_a_failed_release_is_skipped_for_good_and_one_that_a_part_undid_for_a_week() -> None:
    at_s, day_s = 1.8e9, 86_400.0
    failed = RejectedRelease("0.3.0", "failed", at_s=at_s)
    undone = RejectedRelease("0.3.0", "returned", asked_by="interlude", at_s=at_s)
    assert failed.holds(at_s + 1000 * day_s)
    assert undone.holds(at_s + 7 * day_s - 1.0)
    assert not undone.holds(at_s + 7 * day_s)


def test_only_the_last_few_rejections_are_recorded(tmp_path: Path) -> None:
    for number in range(MOST + 2):
        reject(tmp_path, RejectedRelease(f"0.{number}.0", "failed"), Disk())
    assert noted(tmp_path, "0.0.0", "0.1.0", "0.2.0", f"0.{MOST + 1}.0") == [
        "0.2.0",
        f"0.{MOST + 1}.0",
    ]


def test_an_invalid_version_is_never_newer() -> None:
    assert is_newer("0.10.0", "0.2.0")
    assert not is_newer("0.2.0", "0.2.0")
    assert not is_newer("x", "0.2.0")
    assert not is_newer("0.2.0", "x")


# ── the installer, which writes it
@pytest.mark.process
def test_a_rejected_tree_is_identified_by_its_manifest(at: Bench) -> None:
    at.installer().install(at.shop.make("0.1.0"))
    file = at.shop.make("0.2.0", "hangs")
    manifest = RELEASE.peek(file)
    with pytest.raises(HealthCheckFailed):
        at.installer().install(file)
    found = find(at.store.root, "0.2.0")
    assert found is not None
    assert manifest is not None
    assert (found.why, found.tree_sha256) == ("failed", manifest.tree_sha256)
    again = at.shop.make("0.2.0", "hangs", made_s=MADE_S + 1)
    assert found.is_tree_of(RELEASE.peek(again))
    assert not found.is_tree_of(RELEASE.peek(at.shop.make("0.2.0")))
    assert found.is_tree_of(None)
    assert RejectedRelease("0.2.0", "returned").is_tree_of(manifest)


@pytest.mark.process
def test_a_rollback_records_only_a_release_newer_than_the_restored_one(at: Bench) -> None:
    for version in ("0.1.0", "0.2.0"):
        at.installer().install(at.shop.make(version))
    assert not (at.store.root / NOTE).exists()
    assert at.installer().rollback() == "0.1.0"
    found = find(at.store.root, "0.2.0")
    assert found is not None
    assert found.why == "returned"
    assert at.installer().rollback() == "0.2.0"  # and forward again
    assert noted(at.store.root, "0.1.0", "0.2.0") == []


@pytest.mark.process
def test_a_failed_rollback_records_the_release_that_it_tried(at: Bench) -> None:
    at.installer().install(at.shop.make("0.1.0", "crashes"), InstallOptions(start=False))
    at.installer().install(at.shop.make("0.2.0"))
    with pytest.raises(HealthCheckFailed):
        at.installer().rollback()
    assert noted(at.store.root, "0.1.0", "0.2.0") == ["0.1.0"]


@pytest.mark.process
def test_a_disk_that_takes_no_note_prevents_neither_rollback_nor_installation(at: Bench) -> None:
    at.installer().install(at.shop.make("0.1.0"))
    with pytest.raises(HealthCheckFailed, match=r"back on 0\.1\.0, and works"):
        at.installer(ReadOnlyDisk()).install(at.shop.make("0.2.0", "crashes"))
    assert (at.box.runs, at.store.on_trial()) == ("0.1.0", None)
    at.installer().install(at.shop.make("0.3.0"))
    assert at.installer(ReadOnlyDisk()).rollback() == "0.1.0"
    assert at.store.kept() == "0.1.0"
    reject(at.store.root, RejectedRelease("0.4.0", "failed"), Disk())
    assert at.installer(ReadOnlyDisk()).install(at.shop.make("0.4.0"))
    assert at.store.kept() == "0.4.0"
