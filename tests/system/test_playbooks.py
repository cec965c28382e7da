"""What the playbooks promise whoever keeps a fleet, by their text; image/test plays them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ROLES = ROOT / "ansible/roles"
UNITS = ROOT / "system/usr/lib/systemd/system"


def loaded(path: str) -> Any:
    return yaml.safe_load((ROOT / "ansible" / path).read_text())


def test_every_path_unit_of_any_box_is_started_as_soon_as_it_is_there() -> None:
    """Those with a condition on the kernel's command line are of cards, which start anew."""
    system = loaded("roles/system/defaults/main.yml")
    everywhere = {
        name
        for name in system["system_enabled"]
        if name.endswith(".path") and "ConditionKernelCommandLine" not in (UNITS / name).read_text()
    }
    assert everywhere <= set(system["system_watching"])
    assert set(system["system_watching"]) <= set(system["system_enabled"])


@pytest.mark.parametrize("name", ["site.yml", "update.yml"])
def test_what_is_brought_lies_on_the_disk_on_its_way_where_root_is_let_in(name: str) -> None:
    place = loaded(name)[0]["vars"]["ansible_remote_tmp"]
    assert "'/opt/interlude/.ansible' if ansible_user | default('') == 'root'" in place


@pytest.mark.parametrize("role", ["release", "slot"])
def test_a_dry_run_does_not_ask_for_what_it_did_not_install(role: str) -> None:
    last = loaded(f"roles/{role}/tasks/main.yml")[-1]
    assert "ansible.builtin.assert" in last
    assert last["when"] == "not ansible_check_mode"


def test_where_every_package_is_there_apt_fetches_no_lists() -> None:
    ask, install = loaded("roles/packages/tasks/main.yml")
    assert "--simulate" in ask["ansible.builtin.command"]["argv"]
    assert any(ask["register"] in condition for condition in install["when"])
