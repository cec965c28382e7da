"""Networks through nmcli: a script stands in for it and says what NetworkManager's would."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.firstboot.radio import Radio, access_point

CABLE = (
    r"eth0:ethernet:connected:Wired connection 1\nwlan0:wifi:disconnected:\n"
    r"lo:loopback:connected (externally):lo\n"
)
AP = r"eth0:ethernet:unavailable:\nwlan0:wifi:connected:interlude-setup\n"
NAMES = r"Home\nHome\nCaf\\\\:e\n\nNeighbour\n"


def radio(folder: Path, says: str = "", code: int = 0) -> Radio:
    nmcli = folder / "nmcli"
    nmcli.write_text(f'#!/bin/sh\necho "$*" >>{folder}/asked\nprintf "{says}"\nexit {code}\n')
    nmcli.chmod(0o755)
    return Radio(folder / "run", str(nmcli), 3)


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines()


def test_a_cable_is_a_network_and_our_own_access_point_is_none(tmp_path: Path) -> None:
    assert radio(tmp_path, CABLE).connected()
    assert not radio(tmp_path, AP).connected()
    assert radio(tmp_path, AP).device() == "wlan0"
    assert radio(tmp_path, "").device() == ""


def test_a_wifi_that_was_set_up_is_known(tmp_path: Path) -> None:
    assert radio(tmp_path, r"802-11-wireless:interlude-wifi\n802-3-ethernet:Wired\n").known()
    assert not radio(tmp_path, r"802-11-wireless:interlude-setup\n802-3-ethernet:W\n").known()


def test_names_in_reach_come_once_each_and_colons_are_theirs(tmp_path: Path) -> None:
    assert radio(tmp_path, NAMES).names() == ["Home", "Caf:e", "Neighbour"]


def test_the_access_points_password_is_in_a_private_file_and_no_commands_word(
    tmp_path: Path,
) -> None:
    here = radio(tmp_path)
    here.open("Interlude 4711", "12345678")
    (file,) = (tmp_path / "run").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert "psk=12345678" in file.read_text()
    assert "12345678" not in "\n".join(asked(tmp_path))
    assert asked(tmp_path)[-1] == "-t --wait 3 connection up interlude-setup"
    here.close()
    assert list((tmp_path / "run").iterdir()) == []
    assert asked(tmp_path)[-1] == "-t connection reload"


def test_whoever_joins_the_access_point_has_its_password_and_gets_an_address() -> None:
    text = access_point("Interlude 4711", "12345678")
    assert "method=shared\naddress1=10.42.0.1/24" in text
    assert "key-mgmt=wpa-psk" in text


def test_a_network_that_refuses_is_no_error(tmp_path: Path) -> None:
    assert radio(tmp_path).join()
    assert not radio(tmp_path, "Error: no secrets", 4).join()


def test_a_network_manager_that_fails_or_is_missing_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="NetworkManager: Error: not running"):
        radio(tmp_path, "Error: not running", 8).names()
    with pytest.raises(StorageError, match="cannot be asked"):
        Radio(tmp_path, str(tmp_path / "none")).connected()
