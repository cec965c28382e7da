"""How the panel is, in a file that anybody may read: for `interlude check` and `interlude status`.

panel.json lies beside status.json where systemd gave the box a folder, else in the state's folder.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance import status
from appliance.errors import PanelError
from appliance.findings import Finding, ok, problem, warning
from appliance.outside import ButtonTrouble
from appliance.panel.gpio import Wires
from appliance.settings import Settings

FILE = "panel.json"


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """One reading, written at every change and never while it lasts.

    pid      of the panel's process
    wires    by what the lines are reached, e.g. "libgpiod, pinctrl-rp1"
    button   what is wrong with it
    pressed  it has been pressed since the box began
    switch   "cuts" or "closed"; "" if none is wired
    light    what is wrong with it; "" if nothing is known
    """

    pid: int
    wires: str
    button: ButtonTrouble = ""
    pressed: bool = False
    switch: str = ""
    light: str = ""


def place(settings: Settings) -> Path:
    """Where a panel that runs writes it."""
    return status.folder() or settings.state_path()


def write(folder: Path, health: Health) -> None:
    """Whole or not at all. Raises OSError."""
    fresh = folder / f"{FILE}.new"
    fresh.write_bytes(msgspec.json.encode(health))
    fresh.chmod(0o644)
    fresh.rename(folder / FILE)


def read(*folders: Path) -> Health | None:
    """Of the panel that runs here; None if none does. The first folder that has it counts."""
    for folder in folders:
        try:
            health = msgspec.json.decode((folder / FILE).read_bytes(), type=Health)
        except (OSError, msgspec.DecodeError):
            continue
        if Path(f"/proc/{health.pid}").exists():
            return health
    return None


def look(settings: Settings) -> list[Finding]:
    """For `interlude check`: the panel that runs, or else the wires themselves."""
    if settings.panel.gpio == "none":
        return []
    health = read(settings.state_path(), status.FOLDER)
    if health is None:
        return [_at_rest(settings)]
    return findings(health)


def findings(health: Health) -> list[Finding]:
    """Of a panel that runs."""
    found = []
    if health.button:
        what = "is held down, or its wire touches ground" if health.button == "stuck" else "bounces"
        remedy = "Look at the button between pins 9 and 11 (hw/pinout.md)."
        found.append(warning("panel", f"The button {what}: it is ignored.", remedy))
    elif health.pressed:
        found.append(ok("panel", f"The button works ({health.wires})."))
    else:
        sentence = f"The button has not been pressed since the start ({health.wires})."
        found.append(ok("panel", f"{sentence} If it has been, a wire is loose."))
    if health.switch == "cuts":
        remedy = "Close it; if it is closed, its wire is loose (pins 13 and 14)."
        found.append(warning("panel", "The mute switch cuts the microphone.", remedy))
    if health.light:
        found.append(warning("panel", f"The light fails: {health.light}.", "See hw/pinout.md."))
    return found


def _at_rest(settings: Settings) -> Finding:
    """Of a box that does not run: are the lines there, and is nothing pressed?"""
    try:
        wires = Wires(settings.panel)
    except PanelError as error:
        return problem("panel", error.problem, error.remedy)
    try:
        if wires.levels()["button"]:
            return warning(
                "panel",
                "The button reads as pressed.",
                "If nobody presses it: its wire touches ground, or it is of the kind that opens.",
            )
        return ok("panel", f"The panel's lines are there ({wires.by}); the button is up.")
    finally:
        wires.close()
