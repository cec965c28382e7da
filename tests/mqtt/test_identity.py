"""The identity of the box in Home Assistant: id, name, MAC address."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from appliance.mqtt.identity import DeviceIdentity
from appliance.runtime.machine import Machine
from appliance.settings import LinkSettings, load_defaults

LINK = load_defaults().link


def board(root: Path, serial: str = "", machine_id: str = "", mac: str = "") -> Machine:
    files = {
        "proc/device-tree/serial-number": f"{serial}\0" if serial else "",
        "etc/machine-id": machine_id,
        "sys/class/net/eth0/address": mac,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "sys/class/net/eth0/device").mkdir()
    return Machine(root)


def changed(**fields: str) -> LinkSettings:
    return msgspec.structs.replace(LINK, **fields)


def test_the_id_of_a_board_is_the_end_of_its_serial_number(tmp_path: Path) -> None:
    machine = board(tmp_path, "10000000e63a4b5c", "aa", "d8:3a:dd:00:00:01")
    identity = DeviceIdentity.of(LINK, machine)
    assert (identity.box, identity.mac, identity.name) == (
        "e63a4b5c",
        "d8:3a:dd:00:00:01",
        "Interlude",
    )


def test_without_a_serial_number_the_id_is_derived_from_the_machine_id_and_hides_it(
    tmp_path: Path,
) -> None:
    installation = "0123456789abcdef0123456789abcdef"
    identity = DeviceIdentity.of(LINK, board(tmp_path, machine_id=installation))
    assert len(identity.box) == 8
    assert identity.box not in installation


def test_two_machine_ids_give_two_box_ids(tmp_path: Path) -> None:
    identity = DeviceIdentity.of(LINK, board(tmp_path / "a", machine_id="a" * 32))
    other = DeviceIdentity.of(LINK, board(tmp_path / "b", machine_id="b" * 32))
    assert identity.box != other.box


def test_without_serial_number_and_machine_id_the_box_still_has_an_id(tmp_path: Path) -> None:
    assert DeviceIdentity.of(LINK, board(tmp_path)).box == "box"
    with_card = board(tmp_path / "c", mac="d8:3a:dd:00:00:01")
    assert DeviceIdentity.of(LINK, with_card).box == "dd000001"


def test_an_owner_may_name_the_box_without_changing_its_id(tmp_path: Path) -> None:
    machine = board(tmp_path, "10000000e63a4b5c")
    assert DeviceIdentity.of(changed(name="Kitchen"), machine).box == "e63a4b5c"
    assert DeviceIdentity.of(changed(name="Kitchen"), machine).name == "Kitchen"


@pytest.mark.parametrize("identifier", ["two", "Box_2"])
def test_a_box_with_a_configured_id_has_that_id_and_no_mac_address(
    tmp_path: Path, identifier: str
) -> None:
    machine = board(tmp_path, "10000000e63a4b5c", mac="d8:3a:dd:00:00:01")
    identity = DeviceIdentity.of(changed(id=identifier), machine)
    assert (identity.box, identity.mac) == (identifier, "")
