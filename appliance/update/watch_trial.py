"""Polls a box that was just started until its health check decides."""

from __future__ import annotations

from appliance.update.health_check import HealthCheck
from appliance.update.progress import ReportShare
from appliance.update.release.target import InstallTarget
from appliance.update.wait_until_idle import LOOK_S


def watch_trial(check: HealthCheck, box: InstallTarget, report: ReportShare) -> str:
    """Return "" for a healthy box, else what is wrong. `report`: called with the elapsed share of
    the check's time limit."""
    began_s = box.now_s()
    while (verdict := check.evaluate(box.read_health(), box.now_s())) is None:
        report(min(1.0, (box.now_s() - began_s) / check.patience_s))
        box.wait(LOOK_S)
    return verdict
