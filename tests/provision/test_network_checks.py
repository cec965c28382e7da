"""What `interlude check` reports about the network."""

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
    (finding,) = findings_for(
        network, joined, ssid, ["192.168.1.7"] if joined else [], lambda addresses: name, "kitchen"
    )
    return finding


@pytest.mark.parametrize(
    ("joined", "ssid", "where"), [(CABLE, "", "by a cable"), (WIFI, "Home", "by the Wi-Fi Home")]
)
def test_a_connected_box_reports_its_connection_name_and_address(
    joined: JoinedNetwork, ssid: str, where: str
) -> None:
    finding = only(NetworkStatus(), joined, ssid)
    assert finding.verdict == "ok"
    assert where in finding.sentence
    assert "kitchen.local or 192.168.1.7" in finding.sentence


def test_a_name_conflict_is_reported_with_the_name_in_use() -> None:
    finding = only(NetworkStatus(), CABLE, name="kitchen-2.local")
    assert finding.verdict == "warning"
    assert "as kitchen-2.local or 192.168.1.7" in finding.sentence
    assert "`hostname:`" in finding.remedy


def test_without_avahi_the_address_is_reported() -> None:
    finding = only(NetworkStatus(), CABLE, name="")
    assert (finding.verdict, finding.sentence) == (
        "ok",
        "In the network by a cable, as 192.168.1.7.",
    )


def test_a_box_without_a_network_reports_why_and_how_to_reach_its_page() -> None:
    finding = only(AWAY, None)
    assert finding.verdict == "warning"
    assert finding.sentence == AWAY.problem
    assert "`Interlude 4711`" in finding.remedy
    assert "http://10.42.0.1" in finding.remedy
    assert "cable" in only(NetworkStatus(), None).remedy


def test_a_box_on_a_cable_that_was_never_set_up_is_reported() -> None:
    finding = only(NetworkStatus(setup="Interlude 4711"), CABLE)
    assert finding.verdict == "warning"
    assert "The box has not been set up yet" in finding.sentence
    assert only(NetworkStatus(setup="Interlude 4711"), WIFI, "Home").verdict == "ok"  # just joined


def beside_a_cable(folder: Path, reach: str) -> NmcliNetworks:
    """A machine on a cable with a Wi-Fi `Home` set up and the networks `reach` in range."""
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
    ("kept", "reach", "sentence"),
    [
        ("The Wi-Fi Home does not accept the password that I have.", "Home",
         "The Wi-Fi Home does not accept the password that I have."),
        ("", "Home", "not in the Wi-Fi Home that was set up. It is in reach: is its password"),
        ("", "Neighbour", "not in the Wi-Fi Home that was set up. It is not among those in reach"),
        ("The Wi-Fi Older is out of range.", "Home", "not in the Wi-Fi Home that was set up"),
    ],
)  # fmt: skip
def test_on_a_cable_a_problem_of_the_wifi_is_reported(
    tmp_path: Path, kept: str, reach: str, sentence: str
) -> None:
    cable, wifi = network_findings(NetworkStatus(wifi=kept), beside_a_cable(tmp_path, reach))
    assert (cable.verdict, wifi.verdict) == ("ok", "warning")
    assert sentence in wifi.sentence
    assert "interlude.yaml" in wifi.remedy


@pytest.mark.process
def test_an_unused_file_on_the_card_is_reported_with_a_remedy(tmp_path: Path) -> None:
    unread = "The file interlude.yaml.txt on the card is not read. Name it interlude.yaml."
    _, card = network_findings(NetworkStatus(card=unread), radio(tmp_path, NMCLI_CABLE))
    assert (card.verdict, card.sentence) == ("warning", unread)
    assert "BOOTCONFIG" in card.remedy


@pytest.mark.process
def test_network_manager_is_queried_and_its_absence_is_no_finding(tmp_path: Path) -> None:
    (finding,) = network_findings(NetworkStatus(), radio(tmp_path, NMCLI_CABLE))
    assert "by a cable" in finding.sentence
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
