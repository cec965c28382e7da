"""Disk space for models: the peak requirement of the missing files, plus a reserve."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.models.catalogue import CatalogueModel, ModelFile
from appliance.models.disk_space import missing_bytes, parts_first, short_bytes
from appliance.models.store import ModelStore
from appliance.runtime.free_space import SPARE_BYTES


def model(*files: ModelFile) -> CatalogueModel:
    return CatalogueModel(
        name="some", kind="words", about="", repository="a/b", licence="MIT", licence_url="",
        files={str(number): file for number, file in enumerate(files)},
    )  # fmt: skip


TWO = model(ModelFile(path="plain", size=1000), ModelFile(path="encoder", size=600, part="f16"))
SIZES = {"plain": 1000, "encoder": 600}


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    made = ModelStore(tmp_path / "models", {"some": TWO})
    made.folder(TWO).mkdir(parents=True)
    return made


def test_files_of_which_only_a_part_is_kept_come_first() -> None:
    assert [file.path for _, file in parts_first(TWO)] == ["encoder", "plain"]


def test_the_source_of_a_part_is_deleted_before_the_other_files_are_fetched(
    store: ModelStore,
) -> None:
    """600 for the source, and then the larger of its part and of the remaining files."""
    assert missing_bytes(store, TWO, SIZES) == 600 + 1000
    assert missing_bytes(store, TWO, {"plain": 100, "encoder": 600}) == 600 + 600


def test_downloaded_bytes_need_no_further_space(store: ModelStore) -> None:
    plain, encoder = TWO.files["0"], TWO.files["1"]
    store.partial(TWO, plain).write_bytes(bytes(400))
    assert missing_bytes(store, TWO, SIZES) == 600 + 600
    store.path(TWO, encoder).write_bytes(b"the part")
    assert missing_bytes(store, TWO, SIZES) == 600
    store.path(TWO, plain).write_bytes(bytes(1000))
    assert missing_bytes(store, TWO, SIZES) == 0


@pytest.mark.parametrize("free", [0, 1600, SPARE_BYTES + 1599, SPARE_BYTES + 1600, 1 << 40])
def test_a_reserve_is_left_free(store: ModelStore, free: int) -> None:
    assert short_bytes(store, TWO, lambda _: free) == max(0, 1600 + SPARE_BYTES - free)


def test_a_complete_model_needs_no_space(store: ModelStore) -> None:
    for file in TWO.files.values():
        store.path(TWO, file).write_bytes(bytes(SIZES[file.path]))
    assert short_bytes(store, TWO, lambda _: 0) == 0


@given(st.lists(st.tuples(st.integers(0, 1000), st.booleans()), max_size=5))
def test_the_estimate_is_between_once_and_twice_the_size_of_the_files(
    files: list[tuple[int, bool]],
) -> None:
    rows = [
        ModelFile(path=str(number), size=size, part="f16" if part else None)
        for number, (size, part) in enumerate(files)
    ]
    store = ModelStore(Path("/nonexistent"), {})
    sizes = {row.path: row.size or 0 for row in rows}
    missing = missing_bytes(store, model(*rows), sizes)
    assert sum(sizes.values()) <= missing <= 2 * sum(sizes.values())
