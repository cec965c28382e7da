"""Watches a box that was just started, until its health check decides."""

from __future__ import annotations

from appliance.update.health_check import HealthCheck
from appliance.update.progress import ReportShare
from appliance.update.release.target import InstallTarget
from appliance.update.wait_until_idle import LOOK_S


def watch_trial(check: HealthCheck, box: InstallTarget, report: ReportShare) -> str:
    """The verdict: "" for a box that is well, else what is wrong. `report`: how much of the
    check's patience is over."""
    began_s = box.now_s()
    while (verdict := check.evaluate(box.read_health(), box.now_s())) is None:
        report(min(1.0, (box.now_s() - began_s) / check.patience_s))
        box.wait(LOOK_S)
    return verdict
