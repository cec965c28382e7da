"""What the playbooks promise to a fleet's administrator, checked by their text; image/test runs
them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from appliance.update.release.archive import INSTALL_SPARE_BYTES

ROOT = Path(__file__).parents[2]
ROLES = ROOT / "ansible/roles"
UNITS = ROOT / "system/usr/lib/systemd/system"


def loaded(path: str) -> Any:
    return yaml.safe_load((ROOT / "ansible" / path).read_text())


def test_every_path_unit_of_every_machine_is_started_after_its_installation() -> None:
    """Units with a condition on the kernel command line exist only on our image, which is
    restarted."""
    system = loaded("roles/system/defaults/main.yml")
    everywhere = {
        name
        for name in system["system_enabled"]
        if name.endswith(".path") and "ConditionKernelCommandLine" not in (UNITS / name).read_text()
    }
    assert everywhere <= set(system["system_watching"])
    assert set(system["system_watching"]) <= set(system["system_enabled"])


@pytest.mark.parametrize("name", ["site.yml", "update.yml"])
def test_files_are_transferred_through_the_disk_if_the_login_is_root(name: str) -> None:
    place = loaded(name)[0]["vars"]["ansible_remote_tmp"]
    assert "'/opt/interlude/.ansible' if ansible_user | default('') == 'root'" in place


@pytest.mark.parametrize("role", ["release", "slot"])
def test_a_dry_run_does_not_check_what_it_did_not_install(role: str) -> None:
    last = loaded(f"roles/{role}/tasks/main.yml")[-1]
    assert "ansible.builtin.assert" in last
    assert last["when"] == "not ansible_check_mode"


def test_apt_fetches_no_lists_if_every_package_is_installed() -> None:
    ask, install = loaded("roles/packages/tasks/main.yml")
    assert "--simulate" in ask["ansible.builtin.command"]["argv"]
    assert any(ask["register"] in condition for condition in install["when"])


def test_the_check_before_a_transfer_leaves_as_much_room_free_as_an_installation() -> None:
    assert loaded("roles/room/defaults/main.yml")["room_spare_bytes"] == INSTALL_SPARE_BYTES
