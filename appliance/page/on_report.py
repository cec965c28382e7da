"""The bug report with the box's warnings: shown as text, and offered as a file."""

from __future__ import annotations

import platform
import socket

from appliance import __version__
from appliance.page import report
from appliance.page.requests import TEXT, Reply
from appliance.page.visit import PageBox, Visit
from appliance.runtime.machine import Machine

FILE = "interlude-report.txt"


def show(visit: Visit) -> Reply:
    """Show the report."""
    return visit.page("report", report=_text(visit.box))


def save(visit: Visit) -> Reply:
    """Send the report as a file."""
    headers = (("Content-Disposition", f'attachment; filename="{FILE}"'),)
    return Reply(200, _text(visit.box).encode(), TEXT, headers)


def _text(box: PageBox) -> str:
    warnings = report.read_tail(box.places.warnings)
    lines = ["(no log is kept on this machine)"] if warnings is None else warnings or ["none"]
    link = box.files.link
    house = (box.name, link.name, link.broker, link.user, socket.gethostname())
    return report.text(_state(box), box.files, lines, house)


def _state(box: PageBox) -> dict[str, object]:
    machine, status = Machine(box.places.machine), box.model.status
    throttled, _ = machine.throttled()
    state: dict[str, object] = {
        "version": __version__,
        "machine": machine.name() or platform.machine(),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "memory_mib": machine.memory_mib(),
        "memory_used_percent": machine.memory_used_percent(),
        "up_s": machine.up_s(),
        "temperature_c": machine.temperature_c(),
        "power": ", ".join(throttled) or "well",
        "free_mib": machine.free_disk_mib(box.settings.state_path()),
        "state": box.model.state.state,
        "taken_back": box.model.state.taken_back,
        "passed_on": box.model.state.passed_on,
    }
    if status is not None:
        state |= {
            "mode": status.mode, "model": status.model, "voice": status.voice,
            "muted": status.muted, "not working": ", ".join(status.broken) or "nothing",
            "button": status.button or "works", "storage fails": status.storage,
            "broker": "none" if status.house is None else "here" if status.house else "gone",
        }  # fmt: skip
    for kind, summary in box.model.figures.summary().items():
        state[f"{kind} (ms)"] = ", ".join(f"{name} {value}" for name, value in summary.items())
    return state
