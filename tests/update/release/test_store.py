"""The releases that lie on a box: which is kept, which may be gone back to, and what is tidied."""

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
        said = ReleaseManifest(
            version=version, machine="any", python="any", made_s=1, tree_sha256="0" * 64,
            tree_bytes=0, files_bytes=0,
        )  # fmt: skip
        (store.folder(version) / NAME).write_bytes(said.encode())


def test_of_a_new_box_nothing_is_kept_and_anything_may_come(store: ReleaseStore) -> None:
    assert (store.kept(), store.previous(), store.on_trial(), store.floor()) == (None,) * 4
    assert store.installed() == []


def test_what_is_kept_makes_what_was_kept_the_one_to_go_back_to(store: ReleaseStore) -> None:
    lay(store, "0.1.0", "0.2.0")
    store.commit("0.1.0")
    store.commit("0.2.0")
    assert (store.kept(), store.previous()) == ("0.2.0", "0.1.0")
    store.commit("0.2.0")  # again
    assert (store.kept(), store.previous()) == ("0.2.0", "0.1.0")
    store.commit("0.1.0")
    assert (store.kept(), store.previous()) == ("0.1.0", "0.2.0")


def test_whole_releases_are_listed_the_newest_first_and_by_number(store: ReleaseStore) -> None:
    lay(store, "0.2.0", "0.10.0", "0.9.0")
    store.folder("0.11.0").mkdir()  # without its manifest
    assert [said.version for said in store.installed()] == ["0.10.0", "0.9.0", "0.2.0"]


@pytest.mark.parametrize("to", ["releases/not-a-version", "/etc"])
def test_a_link_that_names_no_version_keeps_every_older_one_out(
    store: ReleaseStore, to: str
) -> None:
    (store.root / "current").symlink_to(to)
    with pytest.raises(StorageError, match="does not say which release is kept"):
        store.floor()
    assert store.kept() is None


def test_what_is_kept_is_known_by_name_though_its_manifest_is_gone(store: ReleaseStore) -> None:
    lay(store, "0.1.0")
    store.commit("0.1.0")
    (store.folder("0.1.0") / NAME).unlink()
    assert store.floor() == "0.1.0"
    store.tidy()
    assert store.folder("0.1.0").is_dir()


def test_tidying_takes_what_was_cut_short_and_nothing_that_may_run(store: ReleaseStore) -> None:
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


def test_a_trial_is_over_with_its_link(store: ReleaseStore) -> None:
    lay(store, "0.1.0")
    store.begin_trial("0.1.0")
    assert store.on_trial() == "0.1.0"
    store.end_trial()
    assert store.on_trial() is None


@pytest.mark.parametrize("keep", range(5))
def test_pruning_never_takes_what_runs_or_may_be_gone_back_to(
    store: ReleaseStore, keep: int
) -> None:
    versions = [f"0.{number}.0" for number in range(1, 6)]
    lay(store, *versions)
    for version in ("0.1.0", "0.2.0"):
        store.commit(version)
    gone = store.prune(keep)
    left = {said.version for said in store.installed()}
    assert {"0.1.0", "0.2.0"} <= left
    assert left == set(versions) - set(gone)
    assert len(left) == max(2, keep)
    assert all(old < new for old, new in itertools.product(gone, left - {"0.1.0", "0.2.0"}))


def test_one_installation_at_a_time(store: ReleaseStore) -> None:
    with store.locked(), pytest.raises(InstallDeferred), store.locked():
        pass
