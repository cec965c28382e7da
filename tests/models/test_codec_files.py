"""The codec of a fetched model is made once, completely or not at all, and again if damaged."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import os
from pathlib import Path

import msgspec
import numpy as np
import pytest
from rich.console import Console

from appliance import settings
from appliance.cli import models
from appliance.errors import ModelError, StorageError
from appliance.models import catalogue, codec_files
from appliance.models.catalogue import ModelFile
from appliance.models.store import ModelStore
from appliance.settings import Settings
from appliance.voice.head.codec import Codec
from tests.models.laid import lay
from tests.models.mimi_graph.mimi_files import SMALL, decoded, reference

MIMI = catalogue.load()["mimi"]
WEIGHTS = MIMI.files["weights"]


def box(
    folder: Path, content: bytes = SMALL.read_bytes(), size: int | None = None
) -> tuple[Settings, ModelStore]:
    """A box whose catalogue has a small Mimi, of that content, and of `size` if it is larger."""
    own = settings.load(Path(os.devnull), {"state_dir": str(folder)})
    digest = hashlib.sha256(content).hexdigest()
    weights = ModelFile(path=WEIGHTS.path, size=size or len(content), sha256=digest)
    mimi = msgspec.structs.replace(MIMI, files={"weights": weights})
    store = ModelStore.of(own)
    return own, dataclasses.replace(store, models={**store.models, "mimi": mimi})


def fetched(store: ModelStore, content: bytes = SMALL.read_bytes()) -> Path:
    """Install a small Mimi as a fetch would install the real one. Returns its file."""
    mimi = store.models["mimi"]
    lay(store, mimi)
    path = store.path(mimi, mimi.files["weights"])
    with path.open("r+b") as file:
        file.write(content)
    return path


def names(store: ModelStore) -> set[str]:
    """The names of all files that were made."""
    return {path.name for path in store.folder(MIMI).glob("*codec-*")}


def test_a_codec_is_made_once_and_decodes_like_the_reference(tmp_path: Path) -> None:
    _, store = box(tmp_path)
    fetched(store)
    assert codec_files.made(store, "mimi") is None
    manifest = codec_files.prepare(store, "mimi")
    codes, expected = reference()
    assert np.abs(decoded(Codec(manifest), codes, 140) - expected).max() < 1e-5
    before = manifest.with_suffix(".data").stat().st_mtime_ns
    assert codec_files.made(store, "mimi") == codec_files.prepare(store, "mimi") == manifest
    assert manifest.with_suffix(".data").stat().st_mtime_ns == before
    assert codec_files.prepare(store, "mimi", "int8") != manifest
    assert len(names(store)) == 8


@pytest.mark.parametrize("end", [".onnx", ".data", ".json", ".made.json"])
def test_a_damaged_file_of_the_codec_is_made_again(tmp_path: Path, end: str) -> None:
    _, store = box(tmp_path)
    fetched(store)
    manifest = codec_files.prepare(store, "mimi")
    damaged = manifest.with_name(manifest.stem + end)
    intact = damaged.read_bytes()
    for content in (intact[:-1], b"", None):
        if content is None:
            damaged.unlink()
        else:
            damaged.write_bytes(content)
        assert codec_files.made(store, "mimi") is None
        assert codec_files.prepare(store, "mimi") == manifest
        assert damaged.read_bytes() == intact


def test_an_invalid_weights_file_leaves_nothing_behind(tmp_path: Path) -> None:
    short = SMALL.read_bytes()[:-50_000]
    _, store = box(tmp_path, short)
    fetched(store, short)
    with pytest.raises(ModelError, match="cut off"):
        codec_files.prepare(store, "mimi")
    assert not names(store)


def test_a_codec_that_was_not_fetched_and_a_model_of_another_kind_are_errors(
    tmp_path: Path,
) -> None:
    _, store = box(tmp_path)
    with pytest.raises(ModelError, match=r"not on this box.*models fetch mimi"):
        codec_files.prepare(store, "mimi")
    with pytest.raises(ModelError, match=r"pocket is no codec.*There are mimi"):
        codec_files.made(store, "pocket")


def test_a_disk_without_space_is_reported(tmp_path: Path) -> None:
    _, store = box(tmp_path, size=1 << 43)  # sparse: larger than the free space of any disk
    fetched(store)
    with pytest.raises(StorageError, match="takes up to"):
        codec_files.prepare(store, "mimi")
    assert not names(store)


def test_fetch_makes_the_decoder_of_an_installed_codec(tmp_path: Path) -> None:
    own, store = box(tmp_path)
    fetched(store)
    shown = io.StringIO()
    console = Console(file=shown, width=300)
    assert models.cli_fetch(own, "mimi", console=console, store=store) == 0
    assert codec_files.made(store, "mimi") is not None
    assert "Its decoder is being made" in shown.getvalue()
    assert models.cli_fetch(own, "mimi", console=console, store=store) == 0
    assert shown.getvalue().count("is being made") == 1
