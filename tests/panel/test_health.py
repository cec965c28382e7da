"""How the panel is, in a file for others."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from appliance.panel.health import FILE, PanelHealth, read_health, write_health

WELL = PanelHealth(pid=os.getpid(), wires="keyboard", pressed=True)


def test_what_a_running_panel_wrote_is_read_back(tmp_path: Path) -> None:
    write_health(tmp_path, WELL)
    assert read_health(tmp_path / "none", tmp_path) == WELL
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o644


def test_what_a_dead_panel_left_counts_for_nothing(tmp_path: Path) -> None:
    write_health(tmp_path, msgspec.structs.replace(WELL, pid=2**22 + 1))
    assert read_health(tmp_path) is None


def test_a_damaged_file_counts_for_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{")
    assert read_health(tmp_path) is None


def test_a_fifo_or_a_link_in_its_place_counts_for_nothing_and_nobody_waits(tmp_path: Path) -> None:
    for name in ("fifo", "link", "elsewhere"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "fifo" / FILE)
    write_health(tmp_path / "elsewhere", WELL)
    (tmp_path / "link" / FILE).symlink_to(tmp_path / "elsewhere" / FILE)
    assert read_health(tmp_path / "link") is None
    assert read_health(tmp_path / "fifo") is None
