"""A new Wi-Fi is kept after the box has joined it, and the old one is restored otherwise; time
zones too."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import StorageError
from appliance.language.catalogue import BoxSentence
from appliance.provision.apply_seed import ProvisionTarget
from appliance.provision.change_network import NetworkChanges
from appliance.provision.seed import WifiNetwork
from appliance.provision.seed_files import CONNECTION, connection
from appliance.settings.network_change import NetworkChange
from tests.provision.ground import shipped

ID = "0123456789abcdef"
OLD = connection(WifiNetwork(b"Old", "old password"))
REFUSED = BoxSentence.of("wifi-password", wifi="New")


class Networks:
    """A machine with a radio. `lets_in`: the names of the Wi-Fi networks that accept the box."""

    def __init__(self, ground: ProvisionTarget, *lets_in: str) -> None:
        self.file, self.lets_in = ground.root / CONNECTION, lets_in
        self.has_radio = True
        self.dies = False
        self.joined: list[str] = []

    def device(self) -> str:
        return "wlan0" if self.has_radio else ""

    def names(self) -> list[str]:
        return ["Old", "New"]

    def enter(self, name: str) -> BoxSentence | str:
        if self.dies:
            raise SystemExit(143)
        return "" if self._enters() else REFUSED

    def join(self) -> BoxSentence | str:
        return "" if self._enters() else BoxSentence("wifi-none")

    def _enters(self) -> bool:
        profile = self.file.read_text() if self.file.exists() else ""
        self.joined += [name for name in self.lets_in if f"ssid={ssid(name)}" in profile]
        return any(f"ssid={ssid(name)}" in profile for name in self.lets_in)


def ssid(name: str) -> str:
    return ";".join(str(byte) for byte in name.encode()) + ";"


@pytest.fixture
def ground(tmp_path: Path) -> ProvisionTarget:
    made = shipped(tmp_path)
    for base in (made.root, made.keep):
        place = base / CONNECTION
        place.parent.mkdir(parents=True)
        place.write_text(OLD)
        place.chmod(0o600)
    return made


def wifi(name: str = "New", password: str = "new password") -> NetworkChange:  # noqa: S107  # an invented one
    return NetworkChange(ID, "wifi", name, password)


def files(ground: ProvisionTarget) -> list[str]:
    return [(base / CONNECTION).read_text() for base in (ground.root, ground.keep)]


def test_a_wifi_that_the_box_joins_is_kept(ground: ProvisionTarget) -> None:
    result = NetworkChanges(Networks(ground, "New"), ground).change(wifi())
    assert result.problem == ""
    for base in (ground.root, ground.keep):
        place = base / CONNECTION
        assert place.read_text() == connection(WifiNetwork(b"New", "new password"))
        assert place.stat().st_mode & 0o777 == 0o600


def test_after_a_failed_wifi_the_old_one_is_restored_and_joined(
    ground: ProvisionTarget,
) -> None:
    radio = Networks(ground, "Old")
    result = NetworkChanges(radio, ground).change(wifi())
    assert "password" in result.problem
    assert "new password" not in result.problem
    assert files(ground) == [OLD, OLD]
    assert radio.joined == ["Old"]


def test_the_new_wifi_is_not_stored_before_it_is_joined(ground: ProvisionTarget) -> None:
    kept: list[str] = []

    class Watched(Networks):
        def enter(self, name: str) -> BoxSentence | str:
            kept.append((ground.keep / CONNECTION).read_text())
            assert ssid("New") in self.file.read_text()
            return super().enter(name)

    assert NetworkChanges(Watched(ground, "New"), ground).change(wifi()).problem == ""
    assert kept == [OLD]  # the file that the next start would restore


def test_an_exit_during_the_attempt_restores_the_old_wifi(ground: ProvisionTarget) -> None:
    radio = Networks(ground, "Old", "New")
    radio.dies = True
    with pytest.raises(SystemExit):
        NetworkChanges(radio, ground).change(wifi())
    assert files(ground) == [OLD, OLD]


def test_a_box_without_a_wifi_has_none_after_a_failed_attempt(tmp_path: Path) -> None:
    ground = shipped(tmp_path)
    result = NetworkChanges(Networks(ground), ground).change(wifi())
    assert result.problem != ""
    assert not (ground.root / CONNECTION).exists()
    assert not (ground.keep / CONNECTION).exists()


@pytest.mark.parametrize(
    ("name", "password"),
    [("", "12345678"), ("a" * 33, ""), ("New", "short"), ("N\new", "12345678")],
)
def test_invalid_wifi_values_are_not_tried(
    ground: ProvisionTarget, name: str, password: str
) -> None:
    radio = Networks(ground, "New", name)
    result = NetworkChanges(radio, ground).change(wifi(name, password))
    assert result.problem != ""
    assert files(ground) == [OLD, OLD]


def test_the_networks_in_reach_are_listed(ground: ProvisionTarget) -> None:
    result = NetworkChanges(Networks(ground), ground).change(NetworkChange(ID, "look"))
    assert result.names == ("Old", "New")


def test_a_missing_radio_and_a_running_set_up_are_reported(ground: ProvisionTarget) -> None:
    radio = Networks(ground, "New")
    result = NetworkChanges(radio, ground, set_up=lambda: True).change(wifi())
    assert "being set up" in result.problem
    radio.has_radio = False
    assert "no Wi-Fi" in NetworkChanges(radio, ground).change(wifi()).problem
    assert files(ground) == [OLD, OLD]


def test_an_unreachable_network_manager_is_reported(ground: ProvisionTarget) -> None:
    class Away(Networks):
        def names(self) -> list[str]:
            raise StorageError("NetworkManager cannot be asked.")

    result = NetworkChanges(Away(ground), ground).change(NetworkChange(ID, "look"))
    assert "cannot be asked" in result.problem


def test_a_valid_time_zone_is_kept_and_an_invalid_one_refused(ground: ProvisionTarget) -> None:
    changes = NetworkChanges(Networks(ground), ground)
    assert changes.change(NetworkChange(ID, "timezone", timezone="Europe/Berlin")).problem == ""
    for base in (ground.root, ground.keep):
        assert (base / "etc/timezone").read_text() == "Europe/Berlin\n"
        zone = (base / "etc/localtime").readlink()
        assert zone == Path("/usr/share/zoneinfo/Europe/Berlin")
    for bad in ("", "Europe/Nowhere", "../../etc/passwd", "/etc/passwd"):
        assert changes.change(NetworkChange(ID, "timezone", timezone=bad)).problem != ""
    assert (ground.keep / "etc/timezone").read_text() == "Europe/Berlin\n"
