"""The panel's checks for `interlude check`: button, switch and light.

In: the settings, and the health of a running panel, or else the GPIO lines. Out: findings.
"""

from __future__ import annotations

from appliance.errors import PanelError, ShownAs
from appliance.panel import auto_detection
from appliance.panel.gpio import GpioWires
from appliance.panel.health import PanelHealth, read_health
from appliance.runtime import status
from appliance.runtime.diagnostics import Finding, ok, problem, warning
from appliance.runtime.machine import Machine
from appliance.settings import Settings


def panel_findings(settings: Settings, machine: Machine) -> list[Finding]:
    """Check the running panel, or else the GPIO lines; without a panel, report the reason on a Pi.

    `settings`: with `auto` resolved (auto_detection.py).
    """
    if not settings.panel.here:
        return [*_unread_switch_findings(settings), *_unknown_hat_findings(machine)]
    health = read_health(settings.state_path(), status.FOLDER)
    if health is None:
        return [_at_rest(settings)]
    return findings(health)


def _unread_switch_findings(settings: Settings) -> list[Finding]:
    if not settings.panel.mute_switch:
        return []
    said = "The microphone is off: `panel.mute_switch` is true, and no panel reads it."
    remedy = "Say in `panel.gpio` what it is wired to, or set `panel.mute_switch: false`."
    return [problem("panel", said, remedy, ShownAs.of("page-find-switch-unread"))]


def _unknown_hat_findings(machine: Machine) -> list[Finding]:
    hat = auto_detection.strange_hat(machine)
    if not hat:
        return []
    return [warning(
        "panel",
        f"There is a HAT that is not known here ({hat}): button and light are not used.",
        "If they are wired beside it, and it leaves their pins free: `panel.gpio: header`.",
        ShownAs.of("page-find-panel-hat", hat=hat),
    )]  # fmt: skip


def findings(health: PanelHealth) -> list[Finding]:
    """Findings about a running panel."""
    found = []
    if health.button:
        what = "is held down, or its wire touches ground" if health.button == "stuck" else "bounces"
        remedy = "Look at the button between pins 9 and 11 (hw/pinout.md)."
        shown = ShownAs.of(
            "page-find-button-stuck" if health.button == "stuck" else "page-find-button-bounces"
        )
        found.append(warning("panel", f"The button {what}: it is ignored.", remedy, shown))
    elif health.pressed:
        shown = ShownAs.of("page-find-button")
        found.append(ok("panel", f"The button works ({health.wires}).", shown))
    else:
        sentence = f"The button has not been pressed since the start ({health.wires})."
        shown = ShownAs.of("page-find-button-unused")
        found.append(ok("panel", f"{sentence} If it has been, a wire is loose.", shown))
    if health.switch == "cuts":
        remedy = "Close it; if it is closed, its wire is loose (pins 13 and 14)."
        shown = ShownAs.of("page-find-switch-cuts")
        found.append(warning("panel", "The mute switch cuts the microphone.", remedy, shown))
    if health.light:
        shown = ShownAs.of("page-find-light-fails")
        said = f"The light fails: {health.light}."
        found.append(warning("panel", said, "See hw/pinout.md.", shown))
    return found


def _at_rest(settings: Settings) -> Finding:
    """Check on a stopped box that the lines can be opened and that the button is up."""
    try:
        wires = GpioWires(settings.panel)
    except PanelError as error:
        return problem("panel", error.problem, error.remedy, error.on_page)
    try:
        if wires.levels()["button"]:
            return warning(
                "panel",
                "The button reads as pressed.",
                "If it is not pressed: its wire touches ground, or its contact opens when pressed.",
                ShownAs.of("page-find-button-stuck"),
            )
        said = f"The panel's lines are there ({wires.access}); the button is up."
        return ok("panel", said, ShownAs.of("page-find-button-unused"))
    finally:
        wires.close()
