"""What an owner is told of a release or system that did not stay up, by the note of its program."""

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


def note(store: ReleaseStore, **said: object) -> None:
    (store.root / fallback.NOTE).write_text(json.dumps(said))


def system(folder: Path, version: str) -> Path:
    path = folder / "os-release"
    path.write_text(f"IMAGE_ID=interlude\nIMAGE_VERSION={version}\n")
    return path


@pytest.mark.parametrize("data", [None, b"", b"[", b"\xff", b'{"version": 1}'])
def test_a_box_that_stayed_up_or_whose_note_is_damaged_says_nothing(
    store: ReleaseStore, tmp_path: Path, data: bytes | None
) -> None:
    if data is not None:
        (store.root / fallback.NOTE).write_bytes(data)
    assert fallback.left(store) == ""
    assert fallback.sentences(store, tmp_path / "none") == []


def test_a_release_that_was_left_is_named_with_the_one_that_runs(
    store: ReleaseStore, tmp_path: Path
) -> None:
    note(store, version="0.1.0", left="0.2.0", tried=["0.2.0"])
    assert fallback.left(store) == "0.2.0"
    (said,) = fallback.sentences(store, tmp_path / "none")
    assert said == "Version 0.2.0 did not stay up, so I went back to version 0.1.0."


def test_a_note_about_another_release_than_the_one_that_is_kept_is_old(
    store: ReleaseStore, tmp_path: Path
) -> None:
    note(store, version="0.0.9", left="0.2.0")
    assert fallback.left(store) == ""
    assert fallback.sentences(store, tmp_path / "none") == []


def test_a_note_that_the_power_cut_short_still_says_what_was_left(store: ReleaseStore) -> None:
    note(store, version="0.2.0", going_to="0.1.0")
    assert fallback.left(store) == "0.2.0"
    note(store, version="0.2.0", going_to="0.1.0", tried=["0.1.0"])
    assert fallback.left(store) == ""


def test_where_both_failed_both_are_named(store: ReleaseStore, tmp_path: Path) -> None:
    note(store, version="0.1.0", tried=["0.2.0", "0.1.0"])
    (said,) = fallback.sentences(store, tmp_path / "none")
    assert said == "Neither of the versions 0.2.0 and 0.1.0 stayed up."


def test_a_system_that_was_left_is_told_while_another_runs(
    store: ReleaseStore, tmp_path: Path
) -> None:
    note(store, version="0.1.0", system_left="2.0.0")
    (said,) = fallback.sentences(store, system(tmp_path, "1.0.0"))
    assert said == "I went back from the system 2.0.0 to the system 1.0.0."
    assert fallback.sentences(store, system(tmp_path, "2.0.0")) == []
    assert fallback.sentences(store, tmp_path / "none") == []
