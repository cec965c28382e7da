"""The panel's health file, readable by every user."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from appliance.background_file import write_private
from appliance.panel.health import FILE, PanelHealth, read_health, write_health

WELL = PanelHealth(pid=os.getpid(), wires="keyboard", pressed=True)


def test_the_health_of_a_running_panel_is_read(tmp_path: Path) -> None:
    write_health(tmp_path, WELL)
    assert read_health(tmp_path / "none", tmp_path) == WELL
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o644


def test_the_health_of_a_dead_panel_is_ignored(tmp_path: Path) -> None:
    write_health(tmp_path, msgspec.structs.replace(WELL, pid=2**22 + 1))
    assert read_health(tmp_path) is None


def test_a_damaged_file_is_ignored(tmp_path: Path) -> None:
    write_private(tmp_path / FILE, b"{")
    assert read_health(tmp_path) is None


def test_a_fifo_or_symlink_in_its_place_is_ignored_without_blocking(tmp_path: Path) -> None:
    for name in ("fifo", "link"):
        (tmp_path / name / FILE).parent.mkdir(parents=True)
    os.mkfifo(tmp_path / "fifo" / FILE)
    write_health(tmp_path / "elsewhere", WELL)
    (tmp_path / "link" / FILE).symlink_to(tmp_path / "elsewhere" / FILE)
    assert read_health(tmp_path / "link") is None
    assert read_health(tmp_path / "fifo") is None
