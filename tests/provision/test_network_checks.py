"""What `interlude check` says of the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.provision.network_checks import findings_for, network_findings
from appliance.provision.network_manager import JoinedNetwork, NmcliNetworks
from appliance.runtime.diagnostics import Finding
from appliance.runtime.network_status import NetworkStatus
from tests.provision.test_network_manager import CABLE as NMCLI_CABLE
from tests.provision.test_network_manager import radio

CABLE, WIFI = (
    JoinedNetwork("ethernet", "eth0", "Wired"),
    JoinedNetwork("wifi", "wlan0", "interlude-wifi"),
)
AWAY = NetworkStatus(problem="The Wi-Fi Home is out of range.", setup="Interlude 4711")


def only(
    network: NetworkStatus,
    joined: JoinedNetwork | None,
    ssid: str = "",
    name: str = "kitchen.local",
) -> Finding:
    (one,) = findings_for(
        network, joined, ssid, ["192.168.1.7"] if joined else [], lambda addresses: name, "kitchen"
    )
    return one


@pytest.mark.parametrize(
    ("joined", "ssid", "where"), [(CABLE, "", "by a cable"), (WIFI, "Home", "by the Wi-Fi Home")]
)
def test_a_box_in_a_network_says_where_and_under_which_name(
    joined: JoinedNetwork, ssid: str, where: str
) -> None:
    said = only(NetworkStatus(), joined, ssid)
    assert said.verdict == "ok"
    assert where in said.sentence
    assert "kitchen.local or 192.168.1.7" in said.sentence


def test_a_name_that_another_machine_has_is_told_with_the_one_that_the_box_got() -> None:
    said = only(NetworkStatus(), CABLE, name="kitchen-2.local")
    assert said.verdict == "warning"
    assert "as kitchen-2.local or 192.168.1.7" in said.sentence
    assert "`hostname:`" in said.remedy


def test_without_avahi_the_address_is_told() -> None:
    said = only(NetworkStatus(), CABLE, name="")
    assert (said.verdict, said.sentence) == ("ok", "In the network by a cable, as 192.168.1.7.")


def test_a_box_in_no_network_says_why_and_how_to_reach_its_page() -> None:
    said = only(AWAY, None)
    assert said.verdict == "warning"
    assert said.sentence == AWAY.problem
    assert "`Interlude 4711`" in said.remedy
    assert "http://10.42.0.1" in said.remedy
    assert "cable" in only(NetworkStatus(), None).remedy


def test_a_box_that_nobody_has_set_up_says_so_beside_its_cable() -> None:
    said = only(NetworkStatus(setup="Interlude 4711"), CABLE)
    assert said.verdict == "warning"
    assert "The box has not been set up yet" in said.sentence
    assert only(NetworkStatus(setup="Interlude 4711"), WIFI, "Home").verdict == "ok"  # just joined


def beside_a_cable(folder: Path, reach: str) -> NmcliNetworks:
    """A machine in a network by cable, with a Wi-Fi `Home` set up and those of `reach` about."""
    here = radio(folder, NMCLI_CABLE)
    script = folder / "nmcli"
    more = (
        'case "$*" in *TYPE,NAME*) echo 802-11-wireless:interlude-wifi; exit;; '
        "*ssid*connection*) echo 802-11-wireless.ssid:Home; exit;; "
        f"*wifi*list*) echo '{reach}:70:WPA2'; exit;; esac"
    )
    script.write_text(script.read_text().replace("\nprintf", f"\n{more}\nprintf", 1))
    return here


@pytest.mark.process
@pytest.mark.parametrize(
    ("kept", "reach", "told"),
    [
        ("The Wi-Fi Home does not accept the password that I have.", "Home",
         "The Wi-Fi Home does not accept the password that I have."),
        ("", "Home", "not in the Wi-Fi Home that was set up. It is in reach: is its password"),
        ("", "Neighbour", "not in the Wi-Fi Home that was set up. It is not among those in reach"),
        ("The Wi-Fi Older is out of range.", "Home", "not in the Wi-Fi Home that was set up"),
    ],
)  # fmt: skip
def test_on_a_cable_it_tells_what_is_wrong_with_the_wifi(
    tmp_path: Path, kept: str, reach: str, told: str
) -> None:
    cable, wifi = network_findings(NetworkStatus(wifi=kept), beside_a_cable(tmp_path, reach))
    assert (cable.verdict, wifi.verdict) == ("ok", "warning")
    assert told in wifi.sentence
    assert "interlude.yaml" in wifi.remedy


@pytest.mark.process
def test_a_file_on_the_card_that_is_not_used_is_told_with_what_to_do(tmp_path: Path) -> None:
    unread = "The file interlude.yaml.txt on the card is not read. Name it interlude.yaml."
    _, card = network_findings(NetworkStatus(card=unread), radio(tmp_path, NMCLI_CABLE))
    assert (card.verdict, card.sentence) == ("warning", unread)
    assert "BOOTCONFIG" in card.remedy


@pytest.mark.process
def test_it_asks_network_manager_and_says_nothing_where_there_is_none(tmp_path: Path) -> None:
    (said,) = network_findings(NetworkStatus(), radio(tmp_path, NMCLI_CABLE))
    assert "by a cable" in said.sentence
    assert (
        list(
            network_findings(
                NetworkStatus(), radio(tmp_path, "Error: NetworkManager is not running.", 8)
            )
        )
        == []
    )
    assert (
        list(network_findings(NetworkStatus(), NmcliNetworks(tmp_path, str(tmp_path / "nothing"))))
        == []
    )
