"""The owner's layer learns, leaves other sounds alone, and is saved privately or refused."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from appliance.background_file import write_private
from appliance.errors import ModelError, StorageError
from appliance.hear.bargein import adaptation
from appliance.hear.bargein.adaptation import EMBEDDING, Adaptation, NetworkOutputs
from appliance.runtime.enrolled_files import FILE
from tests.hear.bargein.damaged_archives import damaged

MODEL = "of this network"
DAMAGED = {"empty": b"", "rubbish": b"rubbish", "cut off": b"PK\x03\x04 cut off", **damaged()}


def outputs(seed: int, count: int, middle: float = 0.0, first: float = 0.0) -> NetworkOutputs:
    """Outputs whose first embedding is near `middle` and whose backchannel log odds are `first`."""
    chance = np.random.default_rng(seed)
    embedding = chance.normal(0, 0.3, (count, EMBEDDING)).astype(np.float32)
    embedding[:, 0] += middle
    log_odds = np.tile(np.array([first, 0.0, -3.0], np.float32), (count, 1))
    return NetworkOutputs(log_odds, embedding)


def both(one: NetworkOutputs, other: NetworkOutputs) -> NetworkOutputs:
    return NetworkOutputs(
        np.concatenate([one.log_odds, other.log_odds]),
        np.concatenate([one.embedding, other.embedding]),
    )


def odds(layer: Adaptation, some: NetworkOutputs) -> np.ndarray:
    adapted = layer.adapted(some.log_odds, some.embedding)
    return adaptation.softmax(adapted.astype(np.float64))


def layer() -> Adaptation:
    return adaptation.fit(
        both(outputs(1, 20, 0.8), outputs(2, 20, -0.8)),
        np.repeat([0, 1], 20),
        outputs(3, 200),
        MODEL,
    )


def test_the_layer_separates_classes_that_the_network_confuses() -> None:
    assert odds(layer(), outputs(4, 50, 0.8))[:, 0].mean() > 0.6
    assert odds(layer(), outputs(5, 50, -0.8))[:, 1].mean() > 0.6


def test_the_layer_hardly_changes_the_odds_of_other_sounds() -> None:
    others = outputs(6, 200)
    shipped = adaptation.softmax(others.log_odds.astype(np.float64))
    assert np.abs(odds(layer(), others) - shipped).mean() < 0.12


def test_a_class_with_more_takes_has_no_more_weight() -> None:
    many = both(outputs(1, 60), outputs(2, 3))
    made = adaptation.fit(many, np.repeat([0, 1], [60, 3]), outputs(3, 200), MODEL)
    assert odds(made, outputs(7, 50))[:, 0].mean() < 0.6


def test_a_saved_layer_is_loaded_unchanged_and_private(tmp_path: Path) -> None:
    made = layer()
    path = adaptation.save(made, tmp_path / "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    back = adaptation.load(tmp_path / "new", MODEL)
    assert back is not None
    assert np.array_equal(back.weight, made.weight)


def test_saving_again_restores_the_private_file_mode(tmp_path: Path) -> None:
    adaptation.save(layer(), tmp_path).chmod(0o644)
    assert stat.S_IMODE(adaptation.save(layer(), tmp_path).stat().st_mode) == 0o600


def test_without_a_file_no_layer_is_loaded(tmp_path: Path) -> None:
    assert adaptation.load(tmp_path) is None


def test_a_layer_for_another_network_is_refused(tmp_path: Path) -> None:
    adaptation.save(layer(), tmp_path)
    with pytest.raises(ModelError, match="another version"):
        adaptation.load(tmp_path, "of the next network")


@pytest.mark.parametrize("wrong", DAMAGED)
def test_a_damaged_file_is_refused(tmp_path: Path, wrong: str) -> None:
    write_private(tmp_path / FILE, DAMAGED[wrong])
    with pytest.raises(ModelError, match="damaged"):
        adaptation.load(tmp_path)


@pytest.mark.parametrize("wrong", ["shape", "nan", "kind", "words"])
def test_impossible_weights_are_refused(tmp_path: Path, wrong: str) -> None:
    weight = np.zeros((3, 63 if wrong == "shape" else EMBEDDING), np.float32)
    weight[0, 0] = np.nan if wrong == "nan" else 0
    if wrong in ("kind", "words"):
        weight = weight.astype(np.complex64 if wrong == "kind" else np.str_)
    adaptation.save(Adaptation(weight, np.zeros(3, np.float32), MODEL), tmp_path)
    with pytest.raises(ModelError, match="damaged"):
        adaptation.load(tmp_path)


def test_a_folder_that_cannot_be_written_raises_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(StorageError):
        adaptation.save(layer(), tmp_path / "state")
