"""How far the download of a model is, by what lies on the disk."""

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
    """Half of a model has arrived, as a hole: the disk need not be large."""
    made = store(root)
    made.folder(BIG).mkdir(parents=True)
    first = next(iter(BIG.files.values()))
    with made.partial(BIG, first).open("wb") as file:
        file.truncate((BIG.size or 0) // 2)
    return made


def test_a_box_that_fetches_nothing_has_nothing_left_to_fetch(tmp_path: Path) -> None:
    assert percent(store(tmp_path)) == DONE


def test_a_model_that_is_to_come_has_not_begun(tmp_path: Path) -> None:
    (tmp_path / "model-wanted").write_text(BIG.name)
    assert percent(store(tmp_path)) == 0


def test_half_of_a_model_is_half(tmp_path: Path) -> None:
    assert percent(half(tmp_path)) in (49, 50)


def test_what_is_not_whole_is_never_done(tmp_path: Path) -> None:
    made = half(tmp_path)
    for file in BIG.files.values():
        made.partial(BIG, file).unlink(missing_ok=True)
        with made.path(BIG, file).open("wb") as whole:
            whole.truncate(BIG.size or 0)
    assert percent(made) == DONE - 1


def test_what_has_come_of_one_model_is_told_whatever_is_to_come(tmp_path: Path) -> None:
    made = half(tmp_path)
    assert of_model(made, BIG) in (49, 50)
    other = next(one for one in MODELS.values() if one.size and one.name != BIG.name)
    assert of_model(made, other) == 0
