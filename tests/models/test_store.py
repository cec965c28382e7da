"""The models on this disk: what is whole, what stands in, and what is damaged."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import FetchError, ModelError
from appliance.models.catalogue import CatalogueModel, ModelFile
from appliance.models.store import ModelStore, PinnedRevision, resolve, sha256_of
from appliance.settings import load


def test_the_shipped_model_stands_in_only_for_one_that_is_awaited(tmp_path: Path) -> None:
    settings = load(None, {"state_dir": str(tmp_path), "thinking": {"model": "gemma-4-e2b"}})
    wish = tmp_path / "model-wanted"
    with pytest.raises(ModelError, match="not on this box"):
        resolve(settings, wish)
    wish.write_text("gemma-4-e2b\n")
    assert resolve(settings, wish).name == "pocket"
    wish.write_text("gemma-4-e4b\n")
    with pytest.raises(ModelError):
        resolve(settings, wish)


DATA = b"every byte of it"


@pytest.fixture
def model() -> CatalogueModel:
    sums = hashlib.sha256(DATA).hexdigest()
    return CatalogueModel(
        name="some", kind="words", about="", repository="a/b", licence="MIT", licence_url="",
        files={"model": ModelFile(path="deep/x.onnx", size=len(DATA), sha256=sums)},
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path, model: CatalogueModel) -> ModelStore:
    return ModelStore(tmp_path / "models", {"some": model}, tmp_path / "wanted")


def lay(store: ModelStore, model: CatalogueModel) -> Path:
    """The model, whole. Returns its file."""
    path = store.path(model, model.files["model"])
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    found = {file.path: file for file in model.files.values()}
    store.mark_complete(model, PinnedRevision("r1", found))
    return path


def test_a_model_is_whole_only_with_its_marker_and_every_file(
    store: ModelStore, model: CatalogueModel
) -> None:
    assert store.state(model) == "missing"
    path = lay(store, model)
    assert store.state(model) == "installed"
    store.forget_whole(model)
    assert store.state(model) == "partial"
    path.unlink()
    assert store.state(model) == "missing"


def test_a_marker_of_other_files_or_a_damaged_one_is_none(
    store: ModelStore, model: CatalogueModel
) -> None:
    lay(store, model)
    other = msgspec.structs.replace(model, files={"model": ModelFile(path="deep/y.onnx")})
    assert store.whole(other) is None
    (store.folder(model) / "whole.json").write_bytes(b"{")
    assert store.whole(model) is None


@pytest.mark.parametrize(
    ("data", "said"),
    [(DATA[:-1], "bytes instead of 16"), (DATA[::-1], "does not have the checksum"),
     (None, "is missing")],
)  # fmt: skip
def test_what_became_of_the_files_since_is_said(
    store: ModelStore, model: CatalogueModel, data: bytes | None, said: str
) -> None:
    path = lay(store, model)
    assert store.damage(model) == []
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    (problem,) = store.damage(model)
    assert said in problem
    assert str(path) in problem


def test_what_the_catalogue_does_not_know_is_pinned_by_the_first_fetch(
    store: ModelStore, model: CatalogueModel
) -> None:
    unknown = msgspec.structs.replace(
        model, revision=None, files={"model": ModelFile(path="deep/x.onnx")}
    )
    assert store.pinned(unknown) == unknown
    lay(store, model)
    found = store.pinned(unknown)
    assert (found.revision, found.files["model"].sha256) == ("r1", model.files["model"].sha256)
    own = msgspec.structs.replace(model, revision="mine")
    assert store.pinned(own).revision == "mine"


def test_an_owners_own_voice_is_a_folder_with_one_network_and_its_words(store: ModelStore) -> None:
    for name, files in (
        ("anna", ["a.onnx", "a.onnx.json"]), ("berta", ["a.onnx"]),
        ("clara", ["a.onnx", "a.onnx.json", "b.onnx", "b.onnx.json"]),
    ):  # fmt: skip
        (store.root / name).mkdir(parents=True)
        for file in files:
            (store.root / name / file).touch()
    assert store.piper_voices() == {"anna": store.root / "anna/a.onnx"}
    assert ModelStore(store.root / "none", {}).piper_voices() == {}


def test_one_fetch_at_a_time_and_the_lock_ends_with_it(
    store: ModelStore, model: CatalogueModel
) -> None:
    with (
        store.locked(model),
        pytest.raises(FetchError, match="Another process is fetching some"),
        store.locked(model),
    ):
        pass
    with store.locked(model):
        pass


@pytest.mark.parametrize("wish", [b"", b"\xff", None])
def test_a_wish_that_cannot_be_read_is_none(store: ModelStore, wish: bytes | None) -> None:
    if wish is not None:
        store.wish.write_bytes(wish)
    assert store.wanted() == ""


def test_what_is_no_language_model_does_not_think(store: ModelStore) -> None:
    with pytest.raises(ModelError, match="some is not a language model"):
        store.language_model("some")


@given(st.binary(max_size=5000))
def test_a_checksum_is_that_of_all_bytes_and_progress_counts_them(data: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        steps: list[int] = []
        assert sha256_of(Path(file.name), steps.append) == hashlib.sha256(data).hexdigest()
    assert sum(steps) == len(data)


def test_a_model_that_is_to_go_is_no_model_that_is_to_come(store: ModelStore) -> None:
    store.wish.write_text("some\n")
    assert (store.wanted(), store.unwanted()) == ("some", "")
    store.wish.write_text("remove some\n")
    assert (store.wanted(), store.unwanted()) == ("", "some")


def test_a_removed_model_is_gone_with_all_that_lay_there_and_its_pin_stays(
    store: ModelStore, model: CatalogueModel
) -> None:
    path = lay(store, model)
    path.with_name("more.partial").write_bytes(b"x")
    store.remove(model)
    assert store.state(model) == "missing"
    assert not store.folder(model).exists()
    assert (store.root / "some.pin.json").is_file()
    store.remove(model)


def test_a_model_is_not_removed_while_it_is_fetched_nor_one_of_the_package(
    store: ModelStore, model: CatalogueModel
) -> None:
    lay(store, model)
    with store.locked(model), pytest.raises(FetchError, match="Another process"):
        store.remove(model)
    assert store.state(model) == "installed"
    with pytest.raises(ModelError, match="it stays"):
        store.remove(msgspec.structs.replace(model, repository=None))
