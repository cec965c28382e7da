"""The models on the disk: which are complete, which are replaced by the shipped one, and which are
damaged."""

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
from appliance.models.model_disk import sha256_of
from appliance.models.store import ModelStore, PinnedRevision, resolve
from appliance.settings import load


def test_the_shipped_model_replaces_only_an_awaited_one(tmp_path: Path) -> None:
    settings = load(None, {"state_dir": str(tmp_path), "thinking": {"model": "gemma-4-e2b"}})
    request_file = tmp_path / "model-wanted"
    with pytest.raises(ModelError, match="not on this box"):
        resolve(settings, request_file)
    request_file.write_text("gemma-4-e2b\n")
    assert resolve(settings, request_file).name == "pocket"
    request_file.write_text("gemma-4-e4b\n")
    with pytest.raises(ModelError):
        resolve(settings, request_file)


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
    """Install the complete model. Returns its file."""
    path = store.path(model, model.files["model"])
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    found = {file.path: file for file in model.files.values()}
    store.mark_complete(model, PinnedRevision("r1", found))
    return path


def test_a_model_is_installed_only_with_its_marker_and_every_file(
    store: ModelStore, model: CatalogueModel
) -> None:
    assert store.state(model) == "missing"
    path = lay(store, model)
    assert store.state(model) == "installed"
    store.forget_whole(model)
    assert store.state(model) == "partial"
    path.unlink()
    assert store.state(model) == "missing"


def test_a_damaged_marker_and_one_of_other_files_count_as_none(
    store: ModelStore, model: CatalogueModel
) -> None:
    lay(store, model)
    other = msgspec.structs.replace(model, files={"model": ModelFile(path="deep/y.onnx")})
    assert store.whole(other) is None
    (store.folder(model) / "whole.json").write_bytes(b"{")
    assert store.whole(model) is None


@pytest.mark.parametrize(
    ("data", "why"),
    [(DATA[:-1], "bytes instead of 16"), (DATA[::-1], "does not have the checksum"),
     (None, "is missing")],
)  # fmt: skip
def test_a_changed_or_missing_file_is_reported(
    store: ModelStore, model: CatalogueModel, data: bytes | None, why: str
) -> None:
    path = lay(store, model)
    assert store.damage(model) == []
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    (problem,) = store.damage(model)
    assert why in problem
    assert str(path) in problem


def test_the_first_fetch_pins_what_the_catalogue_does_not_specify(
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


def test_an_own_voice_is_a_folder_with_exactly_one_network_and_its_config(
    store: ModelStore,
) -> None:
    for name, files in (
        ("anna", ["a.onnx", "a.onnx.json"]), ("berta", ["a.onnx"]),
        ("clara", ["a.onnx", "a.onnx.json", "b.onnx", "b.onnx.json"]),
    ):  # fmt: skip
        (store.root / name).mkdir(parents=True)
        for file in files:
            (store.root / name / file).touch()
    assert store.piper_voices() == {"anna": store.root / "anna/a.onnx"}
    assert ModelStore(store.root / "none", {}).piper_voices() == {}


def test_a_concurrent_fetch_is_refused_and_the_lock_ends_with_the_first(
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


@pytest.mark.parametrize("content", [b"", b"\xff", None])
def test_an_unreadable_request_counts_as_none(store: ModelStore, content: bytes | None) -> None:
    if content is not None:
        store.request_file.write_bytes(content)
    assert store.wanted() == ""


def test_a_model_of_another_kind_is_no_language_model(store: ModelStore) -> None:
    with pytest.raises(ModelError, match="some is not a language model"):
        store.language_model("some")


@given(st.binary(max_size=5000))
def test_a_checksum_covers_all_bytes_and_reports_its_progress(data: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        steps: list[int] = []
        assert sha256_of(Path(file.name), steps.append) == hashlib.sha256(data).hexdigest()
    assert sum(steps) == len(data)


def test_a_request_for_a_removal_is_no_request_for_a_download(store: ModelStore) -> None:
    store.request_file.write_text("some\n")
    assert (store.wanted(), store.unwanted()) == ("some", "")
    store.request_file.write_text("remove some\n")
    assert (store.wanted(), store.unwanted()) == ("", "some")


def test_a_removed_model_leaves_only_its_pin(store: ModelStore, model: CatalogueModel) -> None:
    path = lay(store, model)
    path.with_name("more.partial").write_bytes(b"x")
    store.remove(model)
    assert store.state(model) == "missing"
    assert not store.folder(model).exists()
    assert (store.root / "some.pin.json").is_file()
    store.remove(model)


def test_a_model_is_not_removed_during_a_fetch_and_a_shipped_one_never(
    store: ModelStore, model: CatalogueModel
) -> None:
    lay(store, model)
    with store.locked(model), pytest.raises(FetchError, match="Another process"):
        store.remove(model)
    assert store.state(model) == "installed"
    with pytest.raises(ModelError, match="it stays"):
        store.remove(msgspec.structs.replace(model, repository=None))
