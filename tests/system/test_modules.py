"""The kernel module for a device class that a unit may access is loaded before the unit starts."""

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
# The device class as /proc/devices names it, and the module that registers it; "" if no kernel
# builds it as a module.
KINDS = {"char-alsa": "snd", "char-spi": "spidev", "char-gpiochip": ""}


def units() -> dict[str, str]:
    """The units that may access character devices, with their text."""
    found = {path.name: path.read_text() for path in SYSTEM.rglob("*.service") if path.is_file()}
    return {name: text for name, text in found.items() if "DeviceAllow=char-" in text}


def loaded() -> set[str]:
    lines = MODULES.read_text().splitlines()
    return {line.strip() for line in lines if line.strip() and line[0] not in "#;"}


@pytest.mark.parametrize("name", sorted(units()))
def test_a_unit_starts_after_the_modules_of_its_devices_are_loaded(name: str) -> None:
    text = units()[name]
    required = {KINDS[kind] for kind in re.findall(r"^DeviceAllow=(char-\S+)", text, re.MULTILINE)}
    assert required - {""} <= loaded()
    after = " ".join(re.findall(r"^After=(.*)$", text, re.MULTILINE)).split()
    assert LOADS in after


def test_no_other_module_is_loaded() -> None:
    assert loaded() == set(KINDS.values()) - {""}


def test_the_supervisor_and_the_early_light_are_such_units() -> None:
    assert {"interlude.service", "interlude-light.service"} <= set(units())


def test_every_folder_of_system_is_installed_by_the_role() -> None:
    """The image is built with the same role, so one list serves both."""
    parts = yaml.safe_load((ROLE / "defaults/main.yml").read_text())["system_parts"]
    files = {path.relative_to(SYSTEM) for path in (SYSTEM / "usr").rglob("*") if path.is_file()}
    left = {path for path in files if not any(path.is_relative_to(part) for part in parts)}
    assert {path for path in left if "__pycache__" not in path.parts} == set()


def test_a_running_box_loads_the_modules_without_a_restart() -> None:
    (laid,) = (
        task for task in yaml.safe_load((ROLE / "tasks/main.yml").read_text()) if "notify" in task
    )
    handlers = yaml.safe_load((ROLE / "handlers/main.yml").read_text())
    (handler,) = (
        row for row in handlers if MODULES.name in str(row) and "modules-load" in str(row)
    )
    assert f"/{MODULES.relative_to(SYSTEM)}" in handler["ansible.builtin.command"]
    assert handler["name"] in laid["notify"]
