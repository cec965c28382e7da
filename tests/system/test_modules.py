"""A kind of device that a unit may touch is known to the kernel before the unit starts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SYSTEM = ROOT / "system"
MODULES = SYSTEM / "usr/lib/modules-load.d/interlude.conf"
ROLE = ROOT / "ansible/roles/system"
LOADS = "systemd-modules-load.service"
# As /proc/devices names a kind → the module that makes it known; "": no kernel has it as a module.
KINDS = {"char-alsa": "snd", "char-spi": "spidev", "char-gpiochip": ""}


def units() -> dict[str, str]:
    """Those that may touch devices of characters, with their text."""
    found = {path.name: path.read_text() for path in SYSTEM.rglob("*.service") if path.is_file()}
    return {name: text for name, text in found.items() if "DeviceAllow=char-" in text}


def loaded() -> set[str]:
    lines = MODULES.read_text().splitlines()
    return {line.strip() for line in lines if line.strip() and line[0] not in "#;"}


@pytest.mark.parametrize("name", sorted(units()))
def test_a_unit_starts_when_what_it_may_touch_is_known(name: str) -> None:
    text = units()[name]
    wanted = {KINDS[kind] for kind in re.findall(r"^DeviceAllow=(char-\S+)", text, re.MULTILINE)}
    assert wanted - {""} <= loaded()
    after = " ".join(re.findall(r"^After=(.*)$", text, re.MULTILINE)).split()
    assert LOADS in after


def test_nothing_else_is_loaded() -> None:
    assert loaded() == set(KINDS.values()) - {""}


def test_the_box_and_its_early_light_are_such_units() -> None:
    assert {"interlude.service", "interlude-light.service"} <= set(units())


def test_every_folder_of_the_system_is_brought_to_a_card_and_by_the_role() -> None:
    """One list for both: the image is made by the role, too."""
    parts = yaml.safe_load((ROLE / "defaults/main.yml").read_text())["system_parts"]
    files = {path.relative_to(SYSTEM) for path in (SYSTEM / "usr").rglob("*") if path.is_file()}
    left = {path for path in files if not any(path.is_relative_to(part) for part in parts)}
    assert {path for path in left if "__pycache__" not in path.parts} == set()


def test_a_box_that_runs_has_them_without_a_restart() -> None:
    (laid,) = (
        task for task in yaml.safe_load((ROLE / "tasks/main.yml").read_text()) if "notify" in task
    )
    handlers = yaml.safe_load((ROLE / "handlers/main.yml").read_text())
    (ours,) = (row for row in handlers if MODULES.name in str(row) and "modules-load" in str(row))
    assert f"/{MODULES.relative_to(SYSTEM)}" in ours["ansible.builtin.command"]
    assert ours["name"] in laid["notify"]
