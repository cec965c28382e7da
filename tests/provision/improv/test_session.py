"""What a phone has sent, on its way to root. test_service.py tries the rest over a bus."""

from __future__ import annotations

from pathlib import Path

import pytest
from improv_ble_client import protocol as theirs

from appliance.provision.improv.packets import ImprovProblem, ImprovState
from appliance.provision.improv.session import ImprovFolders, ImprovSession
from appliance.provision.submitted_form import FILE

WIFI = theirs.WiFiSettingsCmd(b"Home", b"correct horse").as_bytes()


def test_a_wifi_that_cannot_be_handed_to_root_is_told_and_may_be_sent_again(tmp_path: Path) -> None:
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
