"""The available time zones and the present one."""

from __future__ import annotations

from pathlib import Path

from appliance.page.machine_settings import MachineSettings, machine_settings
from appliance.runtime.handed_changes import HandedChanges

REQUESTS = HandedChanges("network", lambda: 0.0)


def machine(localtime: Path, zones: Path) -> MachineSettings:
    return MachineSettings(REQUESTS, REQUESTS, card=True, localtime=localtime, zones_file=zones)


def test_time_zones_are_those_of_the_systems_list_without_aliases(tmp_path: Path) -> None:
    zones = tmp_path / "tzdata.zi"
    zones.write_text(
        "# version 2025b\nR d 1916 o - Jun 14 23s 1 S\nZ Europe/Berlin 0:53:28 - LMT\n"
        "Z EST -5 - EST\nL Europe/Berlin Europe/Oslo\nZ Africa/Algiers 0:12 - L\n"
    )
    (tmp_path / "localtime").symlink_to("/usr/share/zoneinfo/Europe/Berlin")
    found = machine(tmp_path / "localtime", zones)
    assert found.zones() == ("Africa/Algiers", "Europe/Berlin")
    assert found.zone == "Europe/Berlin"


def test_without_a_zone_list_or_a_local_zone_nothing_is_found(tmp_path: Path) -> None:
    found = machine(tmp_path / "none", tmp_path / "none")
    assert (found.zones(), found.zone) == ((), "")
    (tmp_path / "file").write_bytes(b"\xff")
    assert machine(tmp_path / "file", tmp_path / "file").zones() == ()


def test_a_development_clone_is_not_an_appliance() -> None:
    assert not machine_settings(lambda: 0.0).card
