"""The findings of `interlude check` about the panel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from appliance import settings
from appliance.panel.checks import findings, panel_findings
from appliance.panel.health import PanelHealth, write_health
from appliance.runtime.machine import Machine

WELL = PanelHealth(pid=os.getpid(), wires="keyboard", pressed=True)


def panel_settings(tmp_path: Path, **panel: Any) -> settings.Settings:
    return settings.load(None, {"state_dir": str(tmp_path), "panel": panel})


def test_a_working_button_is_ok() -> None:
    (finding,) = findings(WELL)
    assert finding.verdict == "ok"


def test_a_button_never_pressed_is_ok_with_a_hint_about_the_wire() -> None:
    (finding,) = findings(msgspec.structs.replace(WELL, pressed=False))
    assert finding.verdict == "ok"
    assert "wire is loose" in finding.sentence


@pytest.mark.parametrize(
    "news", [{"button": "stuck"}, {"button": "bouncing"}, {"switch": "cuts"}, {"light": "busy"}]
)
def test_each_fault_is_a_warning_with_a_remedy(news: dict[str, Any]) -> None:
    bad = [f for f in findings(msgspec.structs.replace(WELL, **news)) if f.verdict == "warning"]
    assert len(bad) == 1
    assert bad[0].remedy


@pytest.mark.parametrize("hat", ["M.2 HAT+ M Key", ""])
def test_a_box_without_a_panel_has_no_findings(tmp_path: Path, hat: str) -> None:
    assert panel_findings(panel_settings(tmp_path, gpio="none"), with_hat(tmp_path, hat)) == []


def test_a_mute_switch_that_no_panel_reads_is_a_problem(tmp_path: Path) -> None:
    settings = panel_settings(tmp_path, gpio="none", mute_switch=True)
    (finding,) = panel_findings(settings, Machine(tmp_path))
    assert finding.verdict == "problem"
    assert "microphone is off" in finding.sentence
    assert finding.remedy


def test_an_unknown_hat_is_named_with_a_remedy(tmp_path: Path) -> None:
    (finding,) = panel_findings(
        panel_settings(tmp_path, gpio="none"), with_hat(tmp_path, "Blinking HAT")
    )
    assert finding.verdict == "warning"
    assert "(Blinking HAT of Raspberry Pi)" in finding.sentence
    assert "`panel.gpio: header`" in (finding.remedy or "")


def with_hat(root: Path, product: str) -> Machine:
    folder = root / "proc/device-tree/hat"
    folder.mkdir(parents=True)
    if product:
        (folder / "vendor").write_text("Raspberry Pi\0")
        (folder / "product").write_text(f"{product}\0")
    return Machine(root)


def test_a_running_panels_health_takes_precedence_over_the_wires(tmp_path: Path) -> None:
    write_health(tmp_path, msgspec.structs.replace(WELL, button="stuck"))
    (finding,) = panel_findings(
        panel_settings(tmp_path, gpio="header", chip="pinctrl-of-mars"), Machine()
    )
    assert finding.verdict == "warning"


def test_without_a_running_panel_the_wires_are_tried(tmp_path: Path) -> None:
    (good,) = panel_findings(panel_settings(tmp_path, gpio="keyboard"), Machine())
    assert good.verdict == "ok"
    (bad,) = panel_findings(
        panel_settings(tmp_path, gpio="header", chip="pinctrl-of-mars"), Machine()
    )
    assert bad.verdict == "problem"
    assert "pinctrl-of-mars" in bad.sentence
