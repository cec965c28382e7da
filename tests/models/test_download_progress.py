"""The progress of a download, calculated from the files on the disk."""

from __future__ import annotations

from pathlib import Path

from appliance.models import catalogue
from appliance.models.download_progress import DONE, of_model, percent
from appliance.models.store import ModelStore

MODELS = catalogue.load()
BIG = next(model for model in MODELS.values() if not model.shipped and (model.size or 0) > 1e6)


def store(root: Path) -> ModelStore:
    return ModelStore(root, MODELS, root / "model-wanted")


def half(root: Path) -> ModelStore:
    """A store in which half of a model has arrived, as a sparse file."""
    made = store(root)
    made.folder(BIG).mkdir(parents=True)
    first = next(iter(BIG.files.values()))
    with made.partial(BIG, first).open("wb") as file:
        file.truncate((BIG.size or 0) // 2)
    return made


def test_without_a_download_the_progress_is_complete(tmp_path: Path) -> None:
    assert percent(store(tmp_path)) == DONE


def test_an_awaited_model_starts_at_zero(tmp_path: Path) -> None:
    (tmp_path / "model-wanted").write_text(BIG.name)
    assert percent(store(tmp_path)) == 0


def test_half_of_a_model_is_50_percent(tmp_path: Path) -> None:
    assert percent(half(tmp_path)) in (49, 50)


def test_an_unverified_model_is_never_complete(tmp_path: Path) -> None:
    made = half(tmp_path)
    for file in BIG.files.values():
        made.partial(BIG, file).unlink(missing_ok=True)
        with made.path(BIG, file).open("wb") as full:
            full.truncate(BIG.size or 0)
    assert percent(made) == DONE - 1


def test_the_progress_of_one_model_is_independent_of_the_awaited_one(tmp_path: Path) -> None:
    made = half(tmp_path)
    assert of_model(made, BIG) in (49, 50)
    other = next(model for model in MODELS.values() if model.size and model.name != BIG.name)
    assert of_model(made, other) == 0
