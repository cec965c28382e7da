"""The releases on a box: which one is kept, which one a rollback restores, and what is tidied."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from appliance.errors import InstallDeferred, StorageError
from appliance.update.release.manifest import NAME, ReleaseManifest
from appliance.update.release.store import ReleaseStore


@pytest.fixture
def store(tmp_path: Path) -> ReleaseStore:
    made = ReleaseStore(tmp_path / "opt", tmp_path / "run")
    with made.locked():
        return made


def lay(store: ReleaseStore, *versions: str) -> None:
    for version in versions:
        store.folder(version).mkdir(parents=True)
        manifest = ReleaseManifest(
            version=version, machine="any", python="any", made_s=1, tree_sha256="0" * 64,
            tree_bytes=0, files_bytes=0,
        )  # fmt: skip
        (store.folder(version) / NAME).write_bytes(manifest.encode())


def test_a_new_box_keeps_no_release_and_accepts_any(store: ReleaseStore) -> None:
    assert (store.kept(), store.previous(), store.on_trial(), store.floor()) == (None,) * 4
    assert store.installed() == []


def test_committing_a_release_makes_the_kept_one_the_previous_one(store: ReleaseStore) -> None:
    lay(store, "0.1.0", "0.2.0")
    store.commit("0.1.0")
    store.commit("0.2.0")
    assert (store.kept(), store.previous()) == ("0.2.0", "0.1.0")
    store.commit("0.2.0")  # again: no change
    assert (store.kept(), store.previous()) == ("0.2.0", "0.1.0")
    store.commit("0.1.0")
    assert (store.kept(), store.previous()) == ("0.1.0", "0.2.0")


def test_an_incomplete_release_is_never_the_previous_one(store: ReleaseStore) -> None:
    lay(store, "0.1.0", "0.2.0")
    store.commit("0.1.0")
    store.commit("0.2.0")
    (store.folder("0.1.0") / NAME).unlink()
    assert store.previous() is None


def test_complete_releases_are_listed_newest_first_in_version_order(store: ReleaseStore) -> None:
    lay(store, "0.2.0", "0.10.0", "0.9.0")
    store.folder("0.11.0").mkdir()  # without its manifest
    assert [manifest.version for manifest in store.installed()] == ["0.10.0", "0.9.0", "0.2.0"]


@pytest.mark.parametrize("to", ["releases/not-a-version", "/etc"])
def test_a_current_link_without_a_version_blocks_downgrades(store: ReleaseStore, to: str) -> None:
    (store.root / "current").symlink_to(to)
    with pytest.raises(StorageError, match="does not say which release is kept"):
        store.floor()
    assert store.kept() is None


def test_the_kept_release_is_known_by_its_folder_if_its_manifest_is_missing(
    store: ReleaseStore,
) -> None:
    lay(store, "0.1.0")
    store.commit("0.1.0")
    (store.folder("0.1.0") / NAME).unlink()
    assert store.floor() == "0.1.0"
    store.tidy()
    assert store.folder("0.1.0").is_dir()


def test_tidy_removes_interrupted_work_and_nothing_that_may_run(store: ReleaseStore) -> None:
    lay(store, "0.1.0", "0.2.0", "0.3.0")
    store.commit("0.1.0")
    store.commit("0.2.0")
    store.begin_trial("0.3.0")
    (store.releases / ".0.4.0.part").mkdir()
    store.folder("0.4.0").mkdir()
    (store.root / ".copy.release").touch()
    for version in ("0.1.0", "0.3.0"):
        (store.folder(version) / NAME).unlink()
    store.tidy()
    left = sorted(path.name for path in store.releases.iterdir())
    assert left == ["0.1.0", "0.2.0", "0.3.0"]
    assert not (store.root / ".copy.release").exists()


def test_a_trial_ends_when_its_link_is_removed(store: ReleaseStore) -> None:
    lay(store, "0.1.0")
    store.begin_trial("0.1.0")
    assert store.on_trial() == "0.1.0"
    store.end_trial()
    assert store.on_trial() is None


@pytest.mark.parametrize("keep", range(5))
def test_pruning_never_removes_the_kept_or_the_previous_release(
    store: ReleaseStore, keep: int
) -> None:
    versions = [f"0.{number}.0" for number in range(1, 6)]
    lay(store, *versions)
    for version in ("0.1.0", "0.2.0"):
        store.commit(version)
    gone = store.prune(keep)
    left = {manifest.version for manifest in store.installed()}
    assert {"0.1.0", "0.2.0"} <= left
    assert left == set(versions) - set(gone)
    assert len(left) == max(2, keep)
    assert all(old < new for old, new in itertools.product(gone, left - {"0.1.0", "0.2.0"}))


def test_only_one_installation_runs_at_a_time(store: ReleaseStore) -> None:
    with store.locked(), pytest.raises(InstallDeferred), store.locked():
        pass
