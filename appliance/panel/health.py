"""The panel's health, in a world-readable file for `interlude check` and `interlude status`.

panel.json is in the panel's own folder: below that of status.json if systemd made one for the box,
else below the state folder.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.atomic_file import write_whole
from appliance.messages.commands import ButtonTrouble
from appliance.record_file import read_record
from appliance.runtime import status
from appliance.settings import Settings

FILE = "panel/panel.json"


class PanelHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file, which is written only when it changes.

    pid      of the panel's process
    wires    how the lines are accessed, e.g. "libgpiod, pinctrl-rp1"
    button   what is wrong with it
    pressed  it has been pressed since the panel started
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
    """The folder in which a running panel writes the file."""
    return status.folder() or settings.state_path()


def write_health(folder: Path, health: PanelHealth) -> None:
    """Write the file atomically. Raises OSError."""
    file = folder / FILE
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, msgspec.json.encode(health), lasting=False)


def read_health(*folders: Path) -> PanelHealth | None:
    """The health of the running panel, from the first folder that has it; None if none runs."""
    for folder in folders:
        health = read_record(folder / FILE, PanelHealth)
        if health is not None and Path(f"/proc/{health.pid}").exists():
            return health
    return None
