"""A Wi-Fi is kept once it has let the box in, and left again if it does not; so with a zone."""

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
    """A machine with a radio. `lets_in`: those whose Wi-Fi lets the box in, by their file."""

    def __init__(self, ground: ProvisionTarget, *lets_in: str) -> None:
        self.file, self.lets_in = ground.root / CONNECTION, lets_in
        self.has_radio = True
        self.dies = False
        self.joined: list[str] = []

    def device(self) -> str:
        return "wlan0" if self.has_radio else ""

    def names(self) -> list[str]:
        return ["Old", "New"]

    def enter_ours(self) -> BoxSentence | str:
        if self.dies:
            raise SystemExit(143)
        return "" if self._enters() else REFUSED

    def join(self) -> BoxSentence | str:
        return "" if self._enters() else BoxSentence("wifi-none")

    def _enters(self) -> bool:
        said = self.file.read_text() if self.file.exists() else ""
        self.joined += [name for name in self.lets_in if f"ssid={ssid(name)}" in said]
        return any(f"ssid={ssid(name)}" in said for name in self.lets_in)


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


def wifi(name: str = "New", password: str = "new password") -> NetworkChange:  # noqa: S107  # a made one
    return NetworkChange(ID, "wifi", name, password)


def files(ground: ProvisionTarget) -> list[str]:
    return [(base / CONNECTION).read_text() for base in (ground.root, ground.keep)]


def test_a_wifi_that_lets_the_box_in_is_kept(ground: ProvisionTarget) -> None:
    told = NetworkChanges(Networks(ground, "New"), ground).change(wifi())
    assert told.problem == ""
    for base in (ground.root, ground.keep):
        place = base / CONNECTION
        assert place.read_text() == connection(WifiNetwork(b"New", "new password"))
        assert place.stat().st_mode & 0o777 == 0o600


def test_one_that_does_not_is_left_again_and_the_box_is_where_it_was(
    ground: ProvisionTarget,
) -> None:
    radio = Networks(ground, "Old")
    told = NetworkChanges(radio, ground).change(wifi())
    assert "password" in told.problem
    assert "new password" not in told.problem
    assert files(ground) == [OLD, OLD]
    assert radio.joined == ["Old"]


def test_a_power_cut_while_it_is_tried_brings_the_old_one_back(ground: ProvisionTarget) -> None:
    kept: list[str] = []

    class Watched(Networks):
        def enter_ours(self) -> BoxSentence | str:
            kept.append((ground.keep / CONNECTION).read_text())
            assert ssid("New") in self.file.read_text()
            return super().enter_ours()

    assert NetworkChanges(Watched(ground, "New"), ground).change(wifi()).problem == ""
    assert kept == [OLD]  # what the next start would lay over the root


def test_an_end_on_the_way_goes_back_too(ground: ProvisionTarget) -> None:
    radio = Networks(ground, "Old", "New")
    radio.dies = True
    with pytest.raises(SystemExit):
        NetworkChanges(radio, ground).change(wifi())
    assert files(ground) == [OLD, OLD]


def test_a_box_that_had_no_wifi_has_none_after_a_failure(tmp_path: Path) -> None:
    ground = shipped(tmp_path)
    told = NetworkChanges(Networks(ground), ground).change(wifi())
    assert told.problem != ""
    assert not (ground.root / CONNECTION).exists()
    assert not (ground.keep / CONNECTION).exists()


@pytest.mark.parametrize(
    ("name", "password"),
    [("", "12345678"), ("a" * 33, ""), ("New", "short"), ("N\new", "12345678")],
)
def test_what_is_no_wifi_is_not_tried(ground: ProvisionTarget, name: str, password: str) -> None:
    radio = Networks(ground, "New", name)
    told = NetworkChanges(radio, ground).change(wifi(name, password))
    assert told.problem != ""
    assert files(ground) == [OLD, OLD]


def test_the_names_in_reach_are_told(ground: ProvisionTarget) -> None:
    told = NetworkChanges(Networks(ground), ground).change(NetworkChange(ID, "look"))
    assert told.names == ("Old", "New")


def test_a_machine_without_a_radio_and_one_in_set_up_say_so(ground: ProvisionTarget) -> None:
    radio = Networks(ground, "New")
    told = NetworkChanges(radio, ground, set_up=lambda: True).change(wifi())
    assert "being set up" in told.problem
    radio.has_radio = False
    assert "no Wi-Fi" in NetworkChanges(radio, ground).change(wifi()).problem
    assert files(ground) == [OLD, OLD]


def test_a_network_manager_that_does_not_answer_is_told(ground: ProvisionTarget) -> None:
    class Away(Networks):
        def names(self) -> list[str]:
            raise StorageError("NetworkManager cannot be asked.")

    told = NetworkChanges(Away(ground), ground).change(NetworkChange(ID, "look"))
    assert "cannot be asked" in told.problem


def test_a_time_zone_is_kept_and_one_that_there_is_not_is_refused(ground: ProvisionTarget) -> None:
    changes = NetworkChanges(Networks(ground), ground)
    assert changes.change(NetworkChange(ID, "timezone", timezone="Europe/Berlin")).problem == ""
    for base in (ground.root, ground.keep):
        assert (base / "etc/timezone").read_text() == "Europe/Berlin\n"
        zone = (base / "etc/localtime").readlink()
        assert zone == Path("/usr/share/zoneinfo/Europe/Berlin")
    for bad in ("", "Europe/Nowhere", "../../etc/passwd", "/etc/passwd"):
        assert changes.change(NetworkChange(ID, "timezone", timezone=bad)).problem != ""
    assert (ground.keep / "etc/timezone").read_text() == "Europe/Berlin\n"
