"""What the panel asks for is done once, and a box that does not answer stops nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.firstboot.commands import NOTE, Voice, wish
from appliance.panel import held
from appliance.settings import load


@pytest.mark.parametrize(
    ("note", "meant"), [("setup", "setup"), ("reset\n", "reset"), ("rm -rf", ""), (None, "")]
)
def test_a_wish_is_taken_once(tmp_path: Path, note: str | None, meant: str) -> None:
    if note is not None:
        (tmp_path / NOTE).write_text(note)
    assert wish(tmp_path) == meant
    assert wish(tmp_path) == ""


def test_bytes_that_are_no_wish_are_none(tmp_path: Path) -> None:
    (tmp_path / NOTE).write_bytes(b"\xff\xfe")
    assert wish(tmp_path) == ""
    assert not (tmp_path / NOTE).exists()


def test_the_panel_leaves_its_wish_where_it_is_looked_for(tmp_path: Path) -> None:
    assert held.ask("setup", tmp_path)
    assert wish(tmp_path) == "setup"


def test_a_box_that_is_away_takes_nothing_and_that_is_no_error(tmp_path: Path) -> None:
    settings = load(None, {"state_dir": str(tmp_path)})
    assert not Voice(lambda: settings).says("I have no network.")
