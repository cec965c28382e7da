"""The way of a phone's command to root. test_service.py tests the rest over a message bus."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from improv_ble_client import protocol as theirs

from appliance.provision.improv.device import PRESSED_S, WINDOW_S
from appliance.provision.improv.packets import ImprovProblem, ImprovState
from appliance.provision.improv.session import ImprovFolders, ImprovSession
from appliance.provision.setup_access import OPEN, SetupAccess
from appliance.provision.submitted_form import FILE, IDENTIFY, last_used_ns

IDENTIFY_BOX = theirs.IdentifyCmd().as_bytes()
WIFI = theirs.WiFiSettingsCmd(b"Home", b"correct horse").as_bytes()


def test_a_wifi_that_cannot_be_written_for_root_is_reported_and_may_be_sent_again(
    tmp_path: Path,
) -> None:
    own = tmp_path / "own"
    folders = ImprovFolders(tmp_path, own, tmp_path, tmp_path)
    session = ImprovSession(("1", "2", "3", "4"), folders, 100.0)
    with pytest.raises(OSError, match="No such file"):
        session.write(WIFI, 101.0, "phone", 185)
    assert session.device.problem is ImprovProblem.UNABLE_TO_CONNECT
    assert session.device.state(101.0) is ImprovState.AUTHORIZED
    own.mkdir()
    session.write(WIFI, 102.0, "phone", 185)
    assert (own / FILE).is_file()
    assert session.device.state(102.0) is ImprovState.PROVISIONING


@pytest.mark.parametrize("data", [b"\x00", IDENTIFY_BOX, WIFI])
def test_only_an_authorized_phone_keeps_the_set_up_open(tmp_path: Path, data: bytes) -> None:
    session = ImprovSession(("1", "2", "3", "4"), ImprovFolders(*[tmp_path] * 4), WINDOW_S)
    session.write(data, WINDOW_S + 1, "phone", 185)
    assert last_used_ns(tmp_path) is None
    assert (tmp_path / IDENTIFY).exists() == (data == IDENTIFY_BOX)
    session.device.press(WINDOW_S + 2)
    session.write(data, WINDOW_S + 1 + PRESSED_S, "phone", 185)
    assert last_used_ns(tmp_path) is not None


def test_a_scan_in_the_first_minutes_keeps_the_set_up_open(tmp_path: Path) -> None:
    session = ImprovSession(("1", "2", "3", "4"), ImprovFolders(*[tmp_path] * 4), 100.0)
    session.write(theirs.ScanWifiCmd().as_bytes(), WINDOW_S - 1, "phone", 185)
    assert last_used_ns(tmp_path) is not None


def test_root_tells_bluetooth_that_the_box_already_has_a_wifi(tmp_path: Path) -> None:
    access = SetupAccess("10.42.0.1", settled=True)
    (tmp_path / OPEN).write_bytes(msgspec.json.encode(access))
    session = ImprovSession(("1", "2", "3", "4"), ImprovFolders(*[tmp_path] * 4), 100.0)
    session.write(WIFI, 101.0, "phone", 185)
    assert session.device.problem is ImprovProblem.NOT_AUTHORIZED
    assert not (tmp_path / FILE).exists()
