"""Set-up by Bluetooth with the real BlueZ: Home Assistant's Improv client finds the box, asks it to
identify itself, sends a wrong and then a right Wi-Fi password, and the box joins the network.

Two virtual controllers and simulated Wi-Fi in a virtual machine (bluetooth.py), with the product's
set-up and units. Not covered: the Pi's own radio with its firmware, a real phone, Home Assistant's
app.
"""

from __future__ import annotations

from typing import Any

import pytest

from appliance.provision.improv import packets
from appliance.provision.improv.device import ATT_HEAD, LEAST_MTU, WINDOW_S
from image.test import air, bluetooth, debian_guest

pytestmark = pytest.mark.timeout(1800)

LEGACY_BYTES = 31  # of an advertisement, and of its scan response (Core 5.4, Vol 6 Part B 2.3.1)


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    """What the owner's program observed (improv_owner.py)."""
    return debian_guest.facts_of(bluetooth.GUEST, "ble")


def data_of(state: packets.ImprovState) -> dict[str, str]:
    return {packets.SERVICE_DATA: packets.service_data(state).hex()}


def test_a_phone_nearby_is_offered_the_box_while_there_is_set_up(facts: dict[str, Any]) -> None:
    assert "--noplugin=*" in facts["bluetoothd"], "as the card's drop-in has it"
    assert facts["powered_before"] is False
    seen = facts["seen"]
    assert (seen["name"], seen["offered"]) == ("Interlude", True)
    assert packets.SERVICE in seen["uuids"]
    early = facts["begun_s"] < WINDOW_S
    states = packets.ImprovState
    assert seen["data"] == data_of(states.AUTHORIZED if early else states.AUTHORIZATION_REQUIRED)


def test_what_is_said_to_all_fits_into_an_advertisement_of_any_controller(
    facts: dict[str, Any],
) -> None:
    """BlueZ advertises flags, service and service data; the name is in the scan response."""
    for part in ("data", "response"):
        assert facts["sent"][part], "btmon has seen none"
        assert 0 < max(facts["sent"][part]) <= LEGACY_BYTES


def test_it_makes_itself_known_and_tells_what_it_is_as_often_as_it_is_asked(
    facts: dict[str, Any],
) -> None:
    assert facts["capabilities"] == packets.ALL
    assert facts["heard_identify"].startswith("Here I am.")
    assert len(facts["info"]) == 2
    assert facts["info"][0] == facts["info"][1]
    assert "firmware:Interlude" in facts["info"][0]


def test_networks_in_reach_come_in_one_notification_as_many_as_fit(facts: dict[str, Any]) -> None:
    names = {air.NEIGHBOUR % number for number in range(3, 3 + bluetooth.NEIGHBOURS)}
    assert facts["mtu"] > packets.MOST_DATA
    found = facts["networks"]
    # Names of 32 bytes: six fit into 255.
    assert len(found) >= 6
    assert {name for name, _, _ in found} <= {*names, air.ROUTER}
    assert all(kind == ("WPA2" if name == air.ROUTER else "NO") for name, _, kind in found)


def test_a_phone_with_short_packets_is_told_what_fits_and_its_long_command_is_read(
    facts: dict[str, Any],
) -> None:
    """A name of 32 bytes does not fit into an MTU of 23. A command of 42 bytes arrives as prepared
    writes; its password is too short for a Wi-Fi and is refused."""
    assert facts["short"]["name"] == "Interlude"
    result = bytes.fromhex(facts["short"]["networks"])
    assert result[0] == packets.ImprovCommand.NETWORKS
    assert len(result) == packets.HEAD + result[1] + 1 <= LEAST_MTU - ATT_HEAD
    problem = bytes.fromhex(facts["short"]["error"])
    assert problem == bytes([packets.ImprovProblem.UNABLE_TO_CONNECT])


def test_a_wrong_password_is_told_to_the_phone_and_aloud(facts: dict[str, Any]) -> None:
    assert facts["wrong"] == "UNABLE_TO_CONNECT"
    assert facts["wrong_states"][:2] == ["PROVISIONING", "AUTHORIZED"]
    assert facts["wrong_said"] == "The Wi-Fi Home does not accept the password that I have."


def test_later_than_ten_minutes_it_takes_the_button_though_bluetoothd_crashed(
    facts: dict[str, Any],
) -> None:
    assert facts["late"]["offered"]
    assert facts["late"]["data"] == data_of(packets.ImprovState.AUTHORIZATION_REQUIRED)
    assert facts["late_needs_button"] is True
    assert facts["refused"] == ["NOT_AUTHORIZED", "NOT_AUTHORIZED"]
    assert facts["pressed_states"] == ["AUTHORIZATION_REQUIRED", "AUTHORIZED"]


def test_the_right_password_brings_the_box_into_its_network_and_the_phone_to_its_page(
    facts: dict[str, Any],
) -> None:
    assert facts["url"] == "http://interlude.local"
    assert facts["joined"] == air.ROUTER
    assert facts["right_states"][0] == "PROVISIONING"
    assert "PROVISIONED" in facts["right_states"]
    assert "My name there is interlude dot local." in facts["set_up"]


def test_once_set_up_is_over_nothing_is_advertised_and_bluetooth_is_as_it_was(
    facts: dict[str, Any],
) -> None:
    assert facts["powered_after"] is False
    assert (facts["advertised"], facts["advertised_after"]) == (1, 0)
    assert facts["after"] is None
    assert facts["failed"] == ""
    assert facts["rejected"] == [], "the bus: replies that nobody wanted"
