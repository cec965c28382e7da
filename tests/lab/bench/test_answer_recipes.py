"""The recipes of `bench answer`, and the synthetic model that they share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.models.store import resolve
from appliance.runtime import process_table
from lab.bench import answer_recipes
from lab.bench.answer_recipes import MODEL, RECIPES, install
from lab.bench.answer_thinker import KINDS
from lab.bench.model import spoken_of
from lab.sim.rehearsal_cli import load_over
from tests.lab.bench.tiny_model import SETTINGS, TINY


def test_the_box_finds_synthetic_weights_as_a_model_of_the_owner(tmp_path: Path) -> None:
    for _ in range(2):  # the second call finds the weights
        settings = install(tmp_path, SETTINGS, spoken_of(SETTINGS), TINY)
    found = resolve(settings)
    assert found.name == MODEL
    assert found.text.stat().st_size > 1_000_000
    assert settings.thinking.threads >= 1


def test_a_folder_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("in the way")
    with pytest.raises(StorageError, match="cannot be put in place"):
        install(tmp_path, SETTINGS, spoken_of(SETTINGS), TINY)


def test_each_recipe_has_valid_settings_and_a_known_thinker() -> None:
    for recipe in RECIPES:
        load_over(SETTINGS, recipe.changes)
        assert recipe.thinker in KINDS
    assert len({recipe.name for recipe in RECIPES}) == len(RECIPES)


def test_the_nice_value_of_the_bench_is_added_to_every_process() -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    rows = answer_recipes.rows()
    assert rows["speaker"].nice == process_table.row("speaker").nice + own
    assert (rows["thinker"].package, rows["speaker"].package) == ("lab.bench", "appliance")
