"""What `interlude check` makes of the panel."""

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


def mine(tmp_path: Path, **panel: Any) -> settings.Settings:
    return settings.load(None, {"state_dir": str(tmp_path), "panel": panel})


def test_a_button_that_works_is_well() -> None:
    (one,) = findings(WELL)
    assert one.verdict == "ok"


def test_a_button_that_nobody_has_pressed_may_be_unplugged_and_that_is_said() -> None:
    (one,) = findings(msgspec.structs.replace(WELL, pressed=False))
    assert one.verdict == "ok"
    assert "wire is loose" in one.sentence


@pytest.mark.parametrize(
    "news", [{"button": "stuck"}, {"button": "bouncing"}, {"switch": "cuts"}, {"light": "busy"}]
)
def test_whatever_is_wrong_is_a_warning_with_a_remedy(news: dict[str, Any]) -> None:
    bad = [f for f in findings(msgspec.structs.replace(WELL, **news)) if f.verdict == "warning"]
    assert len(bad) == 1
    assert bad[0].remedy


@pytest.mark.parametrize("hat", ["M.2 HAT+ M Key", ""])
def test_a_box_without_a_panel_has_nothing_to_say(tmp_path: Path, hat: str) -> None:
    assert panel_findings(mine(tmp_path, gpio="none"), with_hat(tmp_path, hat)) == []


def test_a_mute_switch_that_no_panel_reads_is_a_problem(tmp_path: Path) -> None:
    settings = mine(tmp_path, gpio="none", mute_switch=True)
    (one,) = panel_findings(settings, Machine(tmp_path))
    assert one.verdict == "problem"
    assert "microphone is off" in one.sentence
    assert one.remedy


def test_a_hat_that_is_not_known_is_named_with_the_way_out(tmp_path: Path) -> None:
    (one,) = panel_findings(mine(tmp_path, gpio="none"), with_hat(tmp_path, "Blinking HAT"))
    assert one.verdict == "warning"
    assert "(Blinking HAT of Raspberry Pi)" in one.sentence
    assert "`panel.gpio: header`" in (one.remedy or "")


def with_hat(root: Path, product: str) -> Machine:
    folder = root / "proc/device-tree/hat"
    folder.mkdir(parents=True)
    if product:
        (folder / "vendor").write_text("Raspberry Pi\0")
        (folder / "product").write_text(f"{product}\0")
    return Machine(root)


def test_the_panel_that_runs_is_asked_before_the_wires_are(tmp_path: Path) -> None:
    write_health(tmp_path, msgspec.structs.replace(WELL, button="stuck"))
    (one,) = panel_findings(mine(tmp_path, gpio="header", chip="pinctrl-of-mars"), Machine())
    assert one.verdict == "warning"


def test_of_a_box_that_does_not_run_the_wires_are_tried(tmp_path: Path) -> None:
    (good,) = panel_findings(mine(tmp_path, gpio="keyboard"), Machine())
    assert good.verdict == "ok"
    (bad,) = panel_findings(mine(tmp_path, gpio="header", chip="pinctrl-of-mars"), Machine())
    assert bad.verdict == "problem"
    assert "pinctrl-of-mars" in bad.sentence
