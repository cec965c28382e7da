"""An acceptance goes on after a power cut, takes over what lay there before, and can be undone."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from appliance.errors import FetchError, ModelError
from appliance.models.acceptance import SEEN, accept_all
from appliance.models.placement import PATIENCE_S, READY, Placement
from appliance.models.store import DROP, ModelStore
from tests import skips
from tests.models.accepting import EVIL, STRANGER, TEXT, Box


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def before(box: Box) -> None:
    """The model lies in the store as another user's, as a fetch wrote it in earlier releases."""
    if os.geteuid() != 0:
        pytest.skip(skips.ROOT_RIGHTS)
    drop = box.store.root / DROP
    shutil.rmtree(drop)
    place = box.store.folder(box.model)
    place.mkdir()
    (place / "text.gguf").write_bytes(TEXT)
    (place / "mmproj.gguf").write_bytes(box.whole)
    placement = Placement(box.store, box.model)
    for file in box.model.files.values():
        placement.place(file, file.sha256)
    placement.complete("")
    assert box.state == "installed"
    drop.mkdir()
    for path in (place, *place.iterdir()):
        os.chown(path, STRANGER, STRANGER)


def accept_until(box: Box, changes: int) -> bool:
    """Accept in a process that is killed before its change of the disk with this number. Whether it
    ended before."""
    child = os.fork()
    if child == 0:
        left = changes

        def count(event: str, _: tuple[object, ...]) -> None:
            nonlocal left
            left -= event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod")
            if left < 0:
                os._exit(1)

        sys.addaudithook(count)
        box.accept()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.process
@pytest.mark.parametrize("lies", ["fetched", "from before"])
def test_an_acceptance_goes_on_after_a_power_cut_at_any_change(tmp_path: Path, lies: str) -> None:
    for changes in range(100):
        root = tmp_path / str(changes)
        root.mkdir()
        box = Box(root)
        if lies == "fetched":
            box.fetched()
        else:
            before(box)
        if accept_until(box, changes):
            break
        if lies == "fetched" and not (box.drop / READY).exists():
            box.ask()  # as the fetch does again
        lines = box.accept()
        assert lines == ["large: accepted"] or (box.state == "installed" and not lines)
        assert (box.state, box.store.damage(box.model)) == ("installed", [])
        assert not [*box.store.root.rglob("*.unverified"), *box.store.root.glob(".old-*")]
    assert 8 < changes < 99


def test_a_model_from_before_is_refused_until_it_is_taken_over_and_then_kept(box: Box) -> None:
    before(box)
    part = (box.store.folder(box.model) / "audio-part.gguf").read_bytes()
    assert box.state == "partial"
    with pytest.raises(ModelError, match="was not verified"):
        box.store.language_model("large")
    assert box.accept() == ["large: accepted"]
    assert (box.state, box.store.damage(box.model)) == ("installed", [])
    assert (box.store.folder(box.model) / "audio-part.gguf").read_bytes() == part
    assert {path.name for path in box.store.root.iterdir()} - {"large.pin.json", "large.lock"} == {
        DROP, SEEN, "large",
    }  # fmt: skip
    for path in box.store.folder(box.model).iterdir():
        assert path.stat().st_uid == os.geteuid()


def test_a_wrong_model_from_before_is_not_taken_over(box: Box) -> None:
    before(box)
    box.text.write_bytes(EVIL)
    (line,) = box.accept()
    assert "text.gguf has SHA-256" in line
    assert box.state == "partial"
    assert not box.text.exists()
    box.drop.mkdir()
    (box.drop / "text.gguf").write_bytes(TEXT)
    box.ask()
    assert box.accept() == ["large: accepted"]  # its part was taken over


def test_a_download_from_before_goes_on(box: Box) -> None:
    before(box)
    place = box.store.folder(box.model)
    (place / "whole.json").unlink()
    (place / "text.gguf").rename(place / "text.gguf.partial")
    (line,) = box.accept()
    assert "its download goes on" in line
    assert (box.drop / "text.gguf.partial").read_bytes() == TEXT
    assert not place.exists()


def test_a_voice_in_the_folder_of_another_user_is_not_used(box: Box) -> None:
    if os.geteuid() != 0:
        pytest.skip(skips.ROOT_RIGHTS)
    for name in ("anna", "berta"):
        place = box.store.root / name
        place.mkdir()
        for end in (".onnx", ".onnx.json"):
            (place / f"x{end}").touch()
    os.chown(box.store.root / "berta", STRANGER, STRANGER)
    assert list(box.store.piper_voices()) == ["anna"]


def test_a_damaged_file_is_deleted_and_only_that_one_is_wanted_again(box: Box) -> None:
    box.fetched()
    box.accept()
    box.text.write_bytes(EVIL)
    assert box.state == "installed"  # of the same size
    assert len(box.store.damage(box.model)) == 1
    box.ask()
    assert "text.gguf is damaged, and was deleted" in box.accept()[0]
    assert box.state == "partial"
    placement = Placement(box.store, box.model)
    assert {role: placement.has(file) for role, file in box.model.files.items()} == {
        "text": False, "audio": True,
    }  # fmt: skip


def test_only_roots_own_request_removes_a_model(box: Box) -> None:
    box.fetched()
    box.accept()
    box.store.request_file.write_text("remove pocket\n")
    box.ask()
    assert box.accept() == ["large: accepted"]
    box.store.request_file.write_text("remove large\n")
    box.ask()
    assert box.accept() == ["large: removed"]
    assert box.state == "missing"


def test_a_fetch_says_that_nobody_accepts_its_files(box: Box) -> None:
    box.fetched()
    waits: list[float] = []
    placement = Placement(box.store, box.model, sleep=waits.append)
    with pytest.raises(FetchError, match="waits to be verified"):
        placement.complete("")
    assert sum(waits) == PATIENCE_S
    assert box.drop.joinpath("text.gguf").exists()


def test_a_store_without_the_folder_hands_nothing_over(tmp_path: Path) -> None:
    store = ModelStore(tmp_path, {})
    assert "are not handed over" in "".join(accept_all(store))
    assert list(tmp_path.iterdir()) == []
