"""The status report of a box."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from appliance import settings
from appliance.cli.report import format_report
from appliance.cli.status import collect_status, last_line
from appliance.messages.commands import ButtonTrouble
from appliance.panel import health
from appliance.runtime.machine import Machine
from appliance.runtime.status import SupervisorStatus

SETTINGS = settings.load_defaults()
WELL = SupervisorStatus(
    version="0.2.0", pid=1, state="idle", ready=True, healthy=True, taken_back=3, passed_on=2
)


def test_a_running_box_reports_its_state(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/uptime").write_text("3725.10 9000.00\n")
    (tmp_path / "warnings.log").write_text("one\ntwo: the last\n\n")
    found = collect_status(SETTINGS, Machine(tmp_path), WELL, "0.1.0", tmp_path / "warnings.log")
    assert (found["version"], found["well"], found["up_s"]) == ("0.2.0", True, 3725)
    assert found["last_warning"] == "two: the last"
    assert (found["taken_back"], found["passed_on"]) == (3, 2)
    assert json.loads(json.dumps(found)) == found


def test_a_box_that_is_not_running_is_reported_as_not_well(tmp_path: Path) -> None:
    found = collect_status(SETTINGS, Machine(tmp_path), None, "0.1.0", tmp_path / "none")
    assert (found["version"], found["state"], found["well"]) == ("0.1.0", "not running", False)
    assert (found["last_warning"], found["taken_back"]) == (None, None)
    assert "last warning   –" in format_report(found, as_json=False)


def test_a_fallback_is_reported(tmp_path: Path) -> None:
    none = tmp_path / "none"
    sentences = ["Version 0.3.0 did not stay up, so I went back to version 0.2.0."]
    found = collect_status(SETTINGS, Machine(tmp_path), WELL, "0.2.0", none, sentences)
    assert found["fell_back"] == sentences[0]
    assert collect_status(SETTINGS, Machine(tmp_path), WELL, "0.2.0", none)["fell_back"] is None


def test_the_last_line_of_a_large_log_is_found(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("x" * 100_000 + "\nthe end\n")
    assert last_line(log) == "the end"


@pytest.mark.parametrize(("trouble", "expected"), [("", "works"), ("stuck", "stuck")])
def test_the_state_of_the_button_is_reported(
    tmp_path: Path, trouble: ButtonTrouble, expected: str
) -> None:
    health.write_health(
        tmp_path, health.PanelHealth(pid=os.getpid(), wires="keyboard", button=trouble)
    )
    mine = settings.load(None, {"state_dir": str(tmp_path)})
    assert (
        collect_status(mine, Machine(tmp_path), WELL, None, tmp_path / "none")["button"] == expected
    )
    assert (
        collect_status(SETTINGS, Machine(tmp_path), None, None, tmp_path / "none")["button"] is None
    )
