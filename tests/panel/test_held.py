"""What a reset by the button takes away, and what it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance import settings
from appliance.errors import StorageError
from appliance.firstboot import commands
from appliance.hear import adaptation, kept
from appliance.link import leftovers, link
from appliance.panel import held
from appliance.panel.held import RESET, WANTED_SETUP, ask, clear
from appliance.tools import shelf
from appliance.verbs import enrol

PATHS = {name for row in RESET for name in row.paths}


def test_every_file_of_the_table_is_one_that_a_part_of_the_box_writes() -> None:
    """Their own names for it, so that a renamed file is not forgotten here."""
    mine = settings.load(None, {"state_dir": "/state"})
    timers = shelf.path(mine).relative_to("/state").parts[0]
    house = {link.removed(mine).name, leftovers.path(mine).name}
    assert {adaptation.FILE, enrol.RECORDINGS, kept.FILE, timers, *house} == PATHS


def test_a_reset_deletes_what_the_table_says_and_nothing_else(tmp_path: Path) -> None:
    for name in ("verdict-owner.npz", "echo.npz"):
        (tmp_path / name).touch()
    for folder in ("enrolled", "timers", "models", "memory"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").touch()
    gone = clear(tmp_path)
    assert sorted(gone) == ["echo.npz", "enrolled", "timers", "verdict-owner.npz"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["memory", "models"]


def test_a_box_that_has_nothing_of_it_is_reset_as_well(tmp_path: Path) -> None:
    assert clear(tmp_path) == []


def test_a_link_is_deleted_and_not_what_it_points_at(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "state").mkdir()
    (tmp_path / "state/timers").symlink_to(tmp_path / "precious")
    clear(tmp_path / "state")
    assert (tmp_path / "precious").is_dir()
    assert not (tmp_path / "state/timers").is_symlink()


def test_what_cannot_be_deleted_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    with pytest.raises(StorageError, match="could not be deleted"):
        clear(tmp_path / "state")


@pytest.mark.parametrize("wish", ["setup", "reset"])
def test_who_has_the_rights_finds_one_word(tmp_path: Path, wish: held.Wish) -> None:
    assert ask(wish, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [WANTED_SETUP]
    assert (tmp_path / WANTED_SETUP).read_text() == wish


def test_who_has_the_rights_looks_for_that_word() -> None:
    assert commands.NOTE == WANTED_SETUP


def test_where_nobody_has_them_nothing_is_asked(tmp_path: Path) -> None:
    assert not ask("setup", tmp_path / "none")
