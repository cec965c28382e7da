"""What the owner is told about a release or system that did not stay up, from the note of the
fallback program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from appliance.update.release import fallback
from appliance.update.release.store import ReleaseStore


@pytest.fixture
def store(tmp_path: Path) -> ReleaseStore:
    """A box that keeps 0.1.0."""
    made = ReleaseStore(tmp_path / "opt", tmp_path / "run")
    made.folder("0.1.0").mkdir(parents=True)
    made.commit("0.1.0")
    return made


def note(store: ReleaseStore, **fields: object) -> None:
    (store.root / fallback.NOTE).write_text(json.dumps(fields))


def system(folder: Path, version: str) -> Path:
    path = folder / "os-release"
    path.write_text(f"IMAGE_ID=interlude\nIMAGE_VERSION={version}\n")
    return path


@pytest.mark.parametrize("data", [None, b"", b"[", b"\xff", b'{"version": 1}'])
def test_without_a_usable_note_nothing_is_reported(
    store: ReleaseStore, tmp_path: Path, data: bytes | None
) -> None:
    if data is not None:
        (store.root / fallback.NOTE).write_bytes(data)
    assert fallback.left(store) == ""
    assert fallback.sentences(store, tmp_path / "none") == []


def test_an_abandoned_release_is_named_with_the_running_one(
    store: ReleaseStore, tmp_path: Path
) -> None:
    note(store, version="0.1.0", left="0.2.0", tried=["0.2.0"])
    assert fallback.left(store) == "0.2.0"
    (sentence,) = fallback.sentences(store, tmp_path / "none")
    assert sentence == "Version 0.2.0 did not stay up, so I went back to version 0.1.0."


def test_a_note_about_another_release_than_the_kept_one_is_ignored(
    store: ReleaseStore, tmp_path: Path
) -> None:
    note(store, version="0.0.9", left="0.2.0")
    assert fallback.left(store) == ""
    assert fallback.sentences(store, tmp_path / "none") == []


def test_a_note_cut_short_by_a_power_loss_still_names_the_abandoned_release(
    store: ReleaseStore,
) -> None:
    note(store, version="0.2.0", going_to="0.1.0")
    assert fallback.left(store) == "0.2.0"
    note(store, version="0.2.0", going_to="0.1.0", tried=["0.1.0"])
    assert fallback.left(store) == ""


def test_if_both_releases_failed_both_are_named(store: ReleaseStore, tmp_path: Path) -> None:
    note(store, version="0.1.0", tried=["0.2.0", "0.1.0"])
    (sentence,) = fallback.sentences(store, tmp_path / "none")
    assert sentence == "Neither of the versions 0.2.0 and 0.1.0 stayed up."


def test_an_abandoned_system_is_reported_only_while_another_one_runs(
    store: ReleaseStore, tmp_path: Path
) -> None:
    note(store, version="0.1.0", system_left="2.0.0")
    (sentence,) = fallback.sentences(store, system(tmp_path, "1.0.0"))
    assert sentence == "I went back from the system 2.0.0 to the system 1.0.0."
    assert fallback.sentences(store, system(tmp_path, "2.0.0")) == []
    assert fallback.sentences(store, tmp_path / "none") == []
