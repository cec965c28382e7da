"""`interlude status`: prints the state of this box, as text or as JSON for a fleet's table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from appliance.cli.report import format_report
from appliance.panel import health
from appliance.runtime import status
from appliance.runtime.machine import Machine
from appliance.settings import Settings
from appliance.update.release import fallback
from appliance.update.release.store import ReleaseStore

WARNINGS = Path("/var/log/interlude/warnings.log")
_TAIL_BYTES = 4096  # read from the end of the log, to find its last line


def cli(settings: Settings, *, as_json: bool) -> int:
    """Print the state. Returns 0 if the box runs without a fault, else 1."""
    store = ReleaseStore()
    fell_back = fallback.sentences(store)
    report = collect_status(
        settings, Machine(), status.read_status(), store.kept(), WARNINGS, fell_back
    )
    print(format_report(report, as_json=as_json))
    return 0 if report["well"] else 1


def collect_status(
    settings: Settings,
    machine: Machine,
    now: status.SupervisorStatus | None,
    kept: str | None,
    warnings: Path,
    fell_back: Sequence[str] = (),
) -> dict[str, object]:
    """The values of one box for a fleet's table; None if not known."""
    throttled, _ = machine.throttled()
    panel = health.read_health(settings.state_path(), status.FOLDER)
    return {
        "version": now.version if now else kept,
        "state": now.state if now else "not running",
        "well": bool(now and now.well),
        "failed": list(now.failed) if now else [],
        "taken_back": now.taken_back if now else None,
        "passed_on": now.passed_on if now else None,
        "temperature_c": machine.temperature_c(),
        "power": ", ".join(throttled) or None,
        "button": (panel.button or "works") if panel else None,
        "model": settings.thinking.remote.model or settings.thinking.model,
        "up_s": machine.up_s(),
        "free_mib": machine.free_disk_mib(settings.state_path()),
        "last_warning": last_line(warnings),
        "fell_back": " ".join(fell_back) or None,
    }


def last_line(path: Path) -> str | None:
    """The last line of a log that may be large; None if the log is missing or empty."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return None
    return next((line for line in reversed(lines) if line.strip()), None)
