"""How the panel is, in a file that anybody may read: for `interlude check` and `interlude status`.

panel.json lies beside status.json where systemd gave the box a folder, else in the state's folder.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.atomic_file import write_whole
from appliance.messages.commands import ButtonTrouble
from appliance.record_file import read_record
from appliance.runtime import status
from appliance.settings import Settings

FILE = "panel.json"


class PanelHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One reading, written at every change and never while it lasts.

    pid      of the panel's process
    wires    by what the lines are reached, e.g. "libgpiod, pinctrl-rp1"
    button   what is wrong with it
    pressed  it has been pressed since the box began
    pressed_s  when it was pressed last: CLOCK_MONOTONIC; 0.0 before
    switch   "cuts" or "closed"; "" if none is wired
    light    what is wrong with it; "" if nothing is known
    """

    pid: int
    wires: str
    button: ButtonTrouble = ""
    pressed: bool = False
    pressed_s: float = 0.0
    switch: str = ""
    light: str = ""


def place(settings: Settings) -> Path:
    """Where a panel that runs writes it."""
    return status.folder() or settings.state_path()


def write_health(folder: Path, health: PanelHealth) -> None:
    """Whole or not at all. Raises OSError."""
    write_whole(folder / FILE, msgspec.json.encode(health), lasting=False)


def read_health(*folders: Path) -> PanelHealth | None:
    """Of the panel that runs here; None if none does. The first folder that has it counts."""
    for folder in folders:
        health = read_record(folder / FILE, PanelHealth)
        if health is not None and Path(f"/proc/{health.pid}").exists():
            return health
    return None
